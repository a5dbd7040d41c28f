/**
 * A workspace of several folders with settings of their own; then what a user reads before there is anything to check: the
 * extension's page, and its walkthrough, whose pictures must load without any address.
 *
 *     node folders.mjs CACHE VSIX        (see run.sh)
 */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Editor } from './editor.mjs';
import { runSuite } from './suite.mjs';

const TWICE = `import torch
x = torch.ones(3, requires_grad=True).exp().sum()
x.backward()
x.backward()
`;
const ANOTHER = 'import torch\ndef other():\n    torch.ones(3).sum().backward()\n';
const FILES = {
    'plain/twice.py': TWICE,
    'plain/closed.py': TWICE,
    'plain/net.py': 'def grown(x):\n    return x.exp()\n',
    'plain/main.py': 'import torch\nfrom net import grown\nx = torch.ones(3, requires_grad=True)\ny = grown(x)\ny += 1\ny.sum().backward()\n',
    'graver/twice.py': TWICE,
    'graver/.vscode/settings.json': '{"tapelint.severities": {"TL101": "warning"}}',
    'silent/twice.py': `${ANOTHER}${TWICE}`,
    'silent/.vscode/settings.json': '{"tapelint.ignore": ["TL101"]}',
    'all.code-workspace': JSON.stringify({ folders: ['plain', 'graver', 'silent'].map((path) => ({ path })) }),
};
const [cache, vsix] = process.argv.slice(2, 4).map((path) => resolve(path));
const { chromium } = createRequire(join(cache, 'package.json'))('playwright-core');

/** The frame in which a page of the editor is drawn, once it shows as many pictures; all of them must have loaded. */
async function pictures(page, count) {
    const deadline = Date.now() + 60_000;
    let seen = [];
    while (Date.now() < deadline) {
        const found = await Promise.all(page.frames().map((frame) => frame.evaluate(() => {
            const images = [...document.querySelectorAll('img')].filter((image) => image.offsetParent !== null);
            return images.map(({ complete, naturalWidth }) => complete && naturalWidth);
        }).catch(() => [])));
        seen = found.flat();
        if (seen.filter((width) => width > 400).length >= count) {
            return;
        }
        await page.waitForTimeout(300);
    }
    assert.fail(`${count} pictures were to be shown, there are these widths: ${seen}`);
}

/** Waits for the extension's page: text, and no place where a picture could not be loaded. */
async function shown(page, words) {
    const deadline = Date.now() + 60_000;
    while (Date.now() < deadline) {
        const found = await Promise.all(page.frames().map((frame) => frame.evaluate((text) => {
            const broken = [...document.querySelectorAll('img')].filter(({ complete, naturalWidth }) => complete && naturalWidth === 0);
            return document.body.innerText.includes(text) ? broken.map(({ src }) => src) : undefined;
        }, words).catch(() => undefined)));
        const pages = found.filter((broken) => broken !== undefined);
        if (pages.length > 0) {
            assert.deepEqual(pages.flat(), []);
            return;
        }
        await page.waitForTimeout(300);
    }
    assert.fail(`the page does not say "${words}"`);
}

async function command(page, title) {
    await page.keyboard.press('F1');
    await page.locator('.quick-input-widget input').waitFor();
    await page.keyboard.type(title);
    await page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first().click();
}

const workspace = mkdtempSync(join(tmpdir(), 'tapelint-folders-'));
for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(join(workspace, name, '..'), { recursive: true });
    writeFileSync(join(workspace, name), text);
}
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
const editor = await Editor.start({ cache, vsix, workspace });
try {
    const all = (payload) => editor.url(payload).replace(/folder=[^&]*/, `workspace=${editor.workspace}/all.code-workspace`);
    if (!await runSuite(browser, editor, 'folders.js', all)) {
        process.exitCode = 1;
    }
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(editor.url([['openFile', join(editor.workspace, 'plain', 'twice.py')]]));
    await page.locator('.squiggly-error').first().waitFor({ timeout: 60_000 });
    await command(page, 'Welcome: Open Walkthrough...');
    await page.keyboard.type('tapelint');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Get started with tapelint' }).first().click();
    await pictures(page, 1);
    console.log('ok     the pictures of the walkthrough are shown');
    await page.keyboard.press('Control+Shift+X');
    await page.locator('.extensions-viewlet .monaco-list-row', { hasText: 'tapelint' }).first().click();
    await shown(page, 'You came with an error message');
    console.log("ok     the extension's page is shown, and misses no picture");
    if (process.env.TAPELINT_EDITOR_LOOK) {
        await page.screenshot({ path: process.env.TAPELINT_EDITOR_LOOK });
    }
} catch (error) {
    console.error(error);
    process.exitCode = 1;
} finally {
    await editor.stop();
    await browser.close();
    rmSync(workspace, { recursive: true });
}
