/** A cure that edits another file: offered where the call is, shown before it is made, and made once that is confirmed. */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Editor } from './editor.mjs';

const NET = `import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 8)
        self.h = torch.zeros(2, 8)

    def forward(self, x):
        self.h = self.cell(x, self.h)
        return self.h
`;
const MAIN = `import torch
from net import Net

net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(5, 2, 4):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
`;
const RAISES = 8;
const PATIENCE = 60_000;

export async function testCures(browser, program) {
    const workspace = mkdtempSync(join(tmpdir(), 'tapelint-cures-'));
    writeFileSync(join(workspace, 'main.py'), MAIN);
    writeFileSync(join(workspace, 'net.py'), NET);
    mkdirSync(join(workspace, '.vscode'));
    writeFileSync(join(workspace, '.vscode', 'settings.json'), '{"files.autoSave": "afterDelay", "files.autoSaveDelay": 100}');
    const editor = await Editor.start({ ...program, workspace });
    try {
        const page = await browser.newPage({ viewport: { width: 1240, height: 760 } });
        page.setDefaultTimeout(PATIENCE);
        await page.goto(editor.url([['openFile', join(editor.workspace, 'main.py')]]));
        await page.locator('.squiggly-error').first().waitFor();
        const net = () => readFileSync(join(editor.workspace, 'net.py'), 'utf8');
        const panel = page.locator('.bulk-edit-panel');

        await choose(page);
        await panel.waitFor();
        await panel.locator('.monaco-list-row', { hasText: 'net.py' }).first().waitFor();
        await panel.locator('.monaco-button', { hasText: 'Discard' }).click();
        await panel.waitFor({ state: 'hidden' });
        await page.waitForTimeout(1000);
        assert.equal(net(), NET, 'what is discarded is not made');
        console.log('ok     a cure in another file is shown before it is made, and can be discarded');

        await choose(page);
        await panel.waitFor();
        const row = panel.locator('.monaco-list-row', { hasText: 'net.py' }).first();
        await row.waitFor();
        const box = row.locator('.edit-checkbox');
        assert.equal(await box.isChecked(), false, 'it has to be confirmed');
        await box.check();
        await panel.locator('.monaco-button', { hasText: 'Apply' }).click();
        await panel.waitFor({ state: 'hidden' });
        await page.locator('.squiggly-error').first().waitFor({ state: 'detached' });
        await page.waitForTimeout(1000);
        assert.notEqual(net(), NET);
        assert.match(net(), /self\.h.*detach\(\)|detach\(\).*self\.h/);
        console.log('ok     once it is confirmed it is made, and the finding goes');
        await page.close();
    } finally {
        await editor.stop();
        rmSync(workspace, { recursive: true });
    }
}

/** Takes the cure of the other file from the lightbulb of the line that raises. */
async function choose(page) {
    await page.locator('.editor-instance .view-line').first().click();
    await page.keyboard.press('Control+G');
    await page.locator('.quick-input-widget').waitFor();
    await page.keyboard.type(`${RAISES}:10`);
    await page.keyboard.press('Enter');
    await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
    await page.locator('.lightBulbWidget:visible, .codicon-gutter-lightbulb-auto-fix:visible, .codicon-gutter-lightbulb:visible').first().waitFor();
    await page.keyboard.press('Control+.');
    const entry = page.locator('.action-widget .monaco-list-row', { hasText: 'in net.py' }).first();
    await entry.waitFor();
    await page.mouse.move(20, 20); // until the mouse moves, an opened menu ignores it
    await page.mouse.move(30, 30);
    await entry.click();
}
