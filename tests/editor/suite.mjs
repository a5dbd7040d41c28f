/** Runs a suite of `host/` in the extension host of an editor. */

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HOST = join(dirname(fileURLToPath(import.meta.url)), 'host');
const PATIENCE = 180_000;

/** Whether all tests of the suite passed; `url` opens something else than the editor's folder. */
export async function runSuite(browser, editor, suite, url = (payload) => editor.url(payload)) {
    const page = await browser.newPage();
    await page.goto(url([['extensionDevelopmentPath', HOST], ['extensionTestsPath', join(HOST, suite)]]));
    const deadline = Date.now() + PATIENCE;
    while (!existsSync(editor.results)) {
        if (Date.now() > deadline) {
            throw new Error(`${suite} gave no results in ${PATIENCE / 1000} s\n${editor.log()}`);
        }
        await page.waitForTimeout(200);
    }
    await page.close();
    const results = JSON.parse(readFileSync(editor.results, 'utf8'));
    for (const { name, seconds, error } of results) {
        console.log(`${error ? 'FAILED' : 'ok    '} ${name} (${seconds.toFixed(1)} s)${error ? `\n${error}` : ''}`);
    }
    return results.every(({ error }) => !error);
}
