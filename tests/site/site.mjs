/** The built site, served on this machine, in a real Chromium that reaches nothing else. */

import assert from 'node:assert/strict';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join, normalize, resolve } from 'node:path';

const SITE = 'build/site';
const TYPES = {
    '.css': 'text/css',
    '.html': 'text/html',
    '.js': 'text/javascript',
    '.json': 'application/json',
    '.mjs': 'text/javascript',
    '.svg': 'image/svg+xml',
    '.wasm': 'application/wasm',
};

/**
 * Run `tests`, functions by their names, each with a new page and the site's address; playwright-core is installed in
 * the folder that the command line names, as for tests/editor. No request may go elsewhere.
 */
export async function test(tests) {
    const { chromium } = createRequire(join(resolve(process.argv[2]), 'package.json'))('playwright-core');
    const server = createServer(serve);
    await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
    const origin = `http://127.0.0.1:${server.address().port}`;
    const browser = await chromium.launch({
        executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
        args: ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
    });
    let passed = 0;
    let failed = 0;
    try {
        const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
        const elsewhere = [];
        context.on('request', (request) => {
            if (/^(https?|wss?):/.test(request.url()) && !request.url().startsWith(`${origin}/`)) {
                elsewhere.push(request.url());
            }
        });
        for (const [name, run] of Object.entries(tests)) {
            if (!(await passes(name, () => run(context, origin)))) {
                failed += 1; // the others would wait for what does not come
                break;
            }
            passed += 1;
        }
        const asksNobody = await passes('asks no other host', () => assert.deepEqual(elsewhere, []));
        passed += Number(asksNobody);
        failed += Number(!asksNobody);
    } finally {
        await browser.close();
        server.close();
    }
    console.log(`${passed} passed, ${failed} failed`);
    process.exitCode = failed > 0 ? 1 : 0;
}

async function passes(name, run) {
    const begun = Date.now();
    try {
        await run();
        console.log(`ok     ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
        return true;
    } catch (error) {
        console.log(`FAILED ${name}\n${error.stack}`);
        return false;
    }
}

function serve(request, response) {
    const path = join(SITE, normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname)));
    if (!existsSync(path) || !statSync(path).isFile()) {
        response.writeHead(404).end();
        return;
    }
    response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' });
    createReadStream(path).pipe(response);
}
