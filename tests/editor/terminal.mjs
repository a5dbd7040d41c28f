/** PyTorch's error in a terminal is a link: one click shows the finding, and says what it rests on. */

import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Editor } from './editor.mjs';

const TRACEBACK = `Traceback (most recent call last):
  File "/home/me/train.py", line 45, in <module>
    train()
  File "/home/me/train.py", line 40, in train
    loss.backward()
RuntimeError: Trying to backward through the graph a second time
`;

export async function testTerminal(browser, program) {
    const workspace = mkdtempSync(join(tmpdir(), 'tapelint-terminal-'));
    cpSync(program.workspace, workspace, { recursive: true });
    writeFileSync(join(workspace, 'traceback.txt'), TRACEBACK);
    const editor = await Editor.start({ ...program, workspace });
    try {
        // What a terminal shows reaches an extension by the clipboard, which a browser gives to those with permission.
        const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
        const page = await context.newPage();
        await page.setViewportSize({ width: 1280, height: 1200 });
        await page.goto(editor.url([['openFile', join(editor.workspace, 'train.py')]]));
        await page.locator('.squiggly-error').first().waitFor({ timeout: 60_000 });
        await page.keyboard.press('Control+Shift+Backquote');
        await page.locator('.terminal-wrapper .xterm').first().waitFor({ timeout: 60_000 });
        await page.waitForTimeout(3000);
        await page.keyboard.type('clear; cat traceback.txt\n', { delay: 30 });
        const line = page.locator('.xterm-rows > div', { hasText: 'RuntimeError: Trying' }).first();
        await line.waitFor({ timeout: 30_000 });
        await page.waitForTimeout(1000);
        const box = await line.boundingBox();
        const at = [box.x + 60, box.y + box.height / 2];
        await page.mouse.move(...at);
        await page.keyboard.down('Control');
        await page.mouse.move(at[0] + 5, at[1]);
        await page.waitForTimeout(800);
        await page.mouse.click(at[0] + 5, at[1]);
        await page.keyboard.up('Control');
        await page.locator('.view-line', { hasText: 'error[TL102]' }).first().waitFor({ timeout: 30_000 });
        await context.close();
        console.log("ok     a click on PyTorch's error in a terminal explains it");
    } finally {
        await editor.stop();
        rmSync(workspace, { recursive: true });
    }
}
