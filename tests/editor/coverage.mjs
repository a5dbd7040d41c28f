/**
 * What the silence about a file is worth, as a user sees it: the status item leads to the list of all calls of `backward`,
 * with the reason for each that was not followed, and a chosen one to the place of the reason. Without a Python a
 * notification says so, with a way out.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Editor } from './editor.mjs';

const MAIN = `import torch
from lib import net

x = torch.ones(3, requires_grad=True)
x.sum().backward()
loss = net(torch.ones(3)).sum()
loss.backward()
if False:
    loss.backward()
`;
/** What the rows of the list begin with: code, how far it was followed, why no further. */
const REASONS = [
    'x.sum().backwardline 5: followed',
    'loss.backwardline 7: unknown graph `loss` is unknown: nothing is known of `net`, which comes from `lib`',
    'loss.backwardline 9: not reached the test in line 8 is never true',
];
const PATIENCE = { timeout: 60_000 };
const NO_PYTHON = /No Python 3\.10 or newer to run the server\. Tried \/nowhere\/python3/;

export async function testCoverage(browser, program) {
    const workspace = mkdtempSync(join(tmpdir(), 'tapelint-coverage-'));
    writeFileSync(join(workspace, 'main.py'), MAIN);
    mkdirSync(join(workspace, '.vscode'));
    const editor = await Editor.start({ ...program, workspace });
    try {
        set(editor, {});
        const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
        page.setDefaultTimeout(PATIENCE.timeout);
        await page.goto(editor.url([['openFile', join(editor.workspace, 'main.py')]]));
        await page.locator('.view-line').first().waitFor();

        const status = page.locator('[id="status.languageStatus"]');
        await status.waitFor();
        const details = page.locator('.hover-language-status', { hasText: '1 of 3 backward calls followed' }).locator('a', { hasText: 'Details' });
        await status.hover();
        for (let attempt = 0; attempt < 30 && !(await details.isVisible()); attempt++) {
            await page.waitForTimeout(1000);
            await page.mouse.move(400, 300);
            await status.hover();
            await page.waitForTimeout(1000);
        }
        await details.click();
        const rows = page.locator('.quick-input-list .monaco-list-row');
        await rows.first().waitFor();
        const entries = (await rows.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
        for (const reason of REASONS) {
            assert.ok(entries.some((entry) => entry.startsWith(reason)), `${reason} is none of ${JSON.stringify(entries)}`);
        }
        await rows.filter({ hasText: 'which comes from' }).click();
        await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
        assert.match(await cursor(page), /Ln 6, Col/);
        console.log('ok     the status item lists what was not followed, and why, and leads there');

        set(editor, { 'tapelint.interpreter': ['/nowhere/python3'] });
        const notice = page.locator('.notifications-toasts .notification-list-item', { hasText: NO_PYTHON });
        await notice.waitFor();
        await notice.locator('.monaco-button', { hasText: 'Choose Interpreter' }).click();
        await page.locator('.settings-editor .setting-item-contents', { hasText: 'Interpreter' }).first().waitFor();
        console.log('ok     without a Python a notification says what was tried, and leads to the setting');

        const old = join(editor.workspace, 'old-python');
        writeFileSync(old, '#!/bin/sh\necho 3.8.10\necho "$0"\n', { mode: 0o755 });
        const good = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
        set(editor, { 'tapelint.interpreter': [old, good] });
        const skipped = page.locator('.notifications-toasts .notification-list-item', { hasText: 'old-python' });
        await skipped.filter({ hasText: 'is Python 3.8.10. The server needs Python 3.10 or newer and runs under' }).waitFor();
        console.log('ok     a Python that is too old is skipped, and that is said');

        await page.close();
    } finally {
        await editor.stop();
        rmSync(workspace, { recursive: true });
    }
}

/** The settings of the workspace. */
function set(editor, settings) {
    const all = { 'workbench.statusBar.visible': true, ...settings };
    writeFileSync(join(editor.workspace, '.vscode', 'settings.json'), JSON.stringify(all));
}

/** Where the status bar says that the cursor is. */
async function cursor(page) {
    await page.waitForTimeout(1000);
    return page.locator('[id="status.editor.selection"]').innerText();
}
