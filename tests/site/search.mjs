/** Searches the built site, as a user with a traceback would, for whom the first result must do: `make docs-test`. */

import assert from 'node:assert/strict';
import { test } from './site.mjs';

const SEARCHES = [
    ['Trying to backward through the graph a second time', 'errors.html'],
    ['modified by an inplace operation', 'errors.html'],
    ['second time', 'errors.html'],
    ['does not require grad', 'errors.html'],
    ['NoneType', 'errors.html'],
    ['retain_graph', 'faq.html'],
    ['retain-graph-in-loop', 'rules/TL104.html'],
];

const finds = (words, target) => async (context, origin) => {
    const page = await context.newPage();
    await page.goto(`${origin}/index.html`);
    await page.keyboard.press('/');
    await page.keyboard.type(words);
    const links = page.locator('.md-search-result__link');
    await links.first().waitFor();
    const found = await links.evaluateAll((all) => all.map((link) => link.href));
    assert(found[0].startsWith(`${origin}/${target}`), `${target} is not the first of ${found.join(' ')}`);
    await page.close();
};

await test(Object.fromEntries(SEARCHES.map(([words, target]) => [`finds "${words}"`, finds(words, target)])));
