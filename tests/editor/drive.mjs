/**
 * Installs the VSIX into a real VS Code, runs host/suite.js in its extension host, then checks what restricted mode
 * restricts, and takes the screenshots.
 *
 *     node drive.mjs CACHE VSIX [PICTURES]        (see run.sh)
 */

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Editor } from './editor.mjs';
import { takePictures } from './pictures.mjs';
import { testStory } from './story.mjs';
import { testTerminal } from './terminal.mjs';
import { testTrust } from './trust.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const PATIENCE = 180_000;
const [cache, vsix, pictures] = process.argv.slice(2).map((path) => resolve(path));
const { chromium } = createRequire(join(cache, 'package.json'))('playwright-core');

async function runSuite(browser, editor) {
    const page = await browser.newPage();
    const host = join(HERE, 'host');
    await page.goto(editor.url([['extensionDevelopmentPath', host], ['extensionTestsPath', join(host, 'suite.js')]]));
    const deadline = Date.now() + PATIENCE;
    while (!existsSync(editor.results)) {
        if (Date.now() > deadline) {
            throw new Error(`the suite gave no results in ${PATIENCE / 1000} s\n${editor.log()}`);
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

const program = { cache, vsix, workspace: join(HERE, 'workspace') };
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
try {
    const editor = await Editor.start(program);
    try {
        if (!await runSuite(browser, editor)) {
            process.exitCode = 1;
        } else if (pictures) {
            await takePictures(browser, editor, pictures);
        }
    } finally {
        await editor.stop();
    }
    await testTrust(browser, program);
    await testTerminal(browser, program);
    await testStory(browser, program, pictures);
} catch (error) {
    console.error(error);
    process.exitCode = 1;
} finally {
    await browser.close();
}
