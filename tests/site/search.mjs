// Searches the built site in a real Chromium, as somebody with a traceback would: `make docs-test`.
import assert from "node:assert/strict";
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize, resolve } from "node:path";

// The folder in which playwright-core is installed, as for tests/editor.
const cache = resolve(process.argv[2]);
const { chromium } = createRequire(join(cache, "package.json"))("playwright-core");

const SITE = "build/site";
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };
const SEARCHES = [
  ["Trying to backward through the graph a second time", "errors.html"],
  ["modified by an inplace operation", "errors.html"],
  ["retain-graph-in-loop", "rules/TL104.html"],
];

const server = createServer((request, response) => {
  const path = join(SITE, normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname)));
  if (!existsSync(path) || !statSync(path).isFile()) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" });
  createReadStream(path).pipe(response);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${server.address().port}`;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
let passed = 0;
try {
  const page = await browser.newPage();
  const elsewhere = [];
  page.on("request", (request) => {
    if (/^(https?|wss?):/.test(request.url()) && !request.url().startsWith(origin)) elsewhere.push(request.url());
  });
  for (const [words, target] of SEARCHES) {
    await page.goto(`${origin}/index.html`);
    await page.keyboard.press("/");
    await page.keyboard.type(words);
    const links = page.locator(".md-search-result__link");
    await links.first().waitFor();
    const found = await links.evaluateAll((all) => all.map((link) => link.href));
    assert(found.some((link) => link.startsWith(`${origin}/${target}`)), `${words}: ${target} is not in ${found.join(" ")}`);
    passed += 1;
  }
  await page.goto(`${origin}/index.html`);
  assert.deepEqual(elsewhere, [], "the site asks other hosts");
  passed += 1;
} finally {
  await browser.close();
  server.close();
}
console.log(`${passed} passed, 0 failed`);
