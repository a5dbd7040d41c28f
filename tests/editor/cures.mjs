/** Cures that are unsafe, or edit another file: one key or click makes them; the other file is shown, and "Undo" takes it back. */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Editor } from './editor.mjs';

export const NET = `import torch
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
export const MAIN = `import torch
from net import Net

net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(5, 2, 4):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
`;
// Two losses share a graph: to detach one of them gives up a gradient, which only the user can decide.
export const SHARED = `import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
(y * 2 + x).sum().backward()
(y * 3 + x).sum().backward()
`;
const RAISES = 8;
const PATIENCE = 60_000;

export async function testCures(browser, program) {
    const workspace = mkdtempSync(join(tmpdir(), 'tapelint-cures-'));
    writeFileSync(join(workspace, 'main.py'), MAIN);
    writeFileSync(join(workspace, 'net.py'), NET);
    writeFileSync(join(workspace, 'shared.py'), SHARED);
    mkdirSync(join(workspace, '.vscode'));
    writeFileSync(join(workspace, '.vscode', 'settings.json'), '{"files.autoSave": "afterDelay", "files.autoSaveDelay": 100}');
    const editor = await Editor.start({ ...program, workspace });
    try {
        const page = await browser.newPage({ viewport: { width: 1240, height: 760 } });
        page.setDefaultTimeout(PATIENCE);
        await page.goto(editor.url([['openFile', join(editor.workspace, 'main.py')]]));
        await page.locator('.squiggly-error').first().waitFor();
        const text = (name) => readFileSync(join(editor.workspace, name), 'utf8');

        await goTo(page, `${RAISES}:10`);
        await choose(page, 'in net.py');
        await page.locator('.tab.active, .title .label-name', { hasText: 'net.py' }).first().waitFor();
        const notice = page.locator('.notification-toast', { hasText: 'In net.py' });
        await notice.waitFor();
        await until(() => /self\.h.*detach\(\)|detach\(\).*self\.h/.test(text('net.py')));
        console.log('ok     a cure in another file is made at once, and shown there');

        await notice.getByText('Undo', { exact: true }).click();
        await until(() => text('net.py') === NET);
        console.log('ok     Undo takes it back');

        await open(page, 'main.py');
        await page.locator('.squiggly-error').first().waitFor();
        await goTo(page, `${RAISES}:10`);
        await page.keyboard.press('Shift+Alt+Period');
        await until(() => text('net.py') !== NET);
        await open(page, 'main.py');
        await page.locator('.squiggly-error').first().waitFor({ state: 'detached' });
        console.log('ok     one key makes it (Auto Fix), and the finding goes');

        await open(page, 'shared.py');
        await page.locator('.squiggly-error').first().waitFor();
        await goTo(page, '6:10');
        await choose(page, '[unsafe]');
        await page.locator('.squiggly-error').first().waitFor({ state: 'detached' });
        await until(() => text('shared.py') !== SHARED);
        assert.equal(await page.locator('.bulk-edit-panel').count(), 0);
        console.log('ok     an unsafe cure is made when it is chosen');
        await page.close();
    } finally {
        await editor.stop();
        rmSync(workspace, { recursive: true });
    }
}

/** Opens a file of the workspace. */
async function open(page, name) {
    await page.locator('.explorer-folders-view .monaco-list-row', { hasText: name }).first().dblclick();
    await page.locator('.tab.active, .title .label-name', { hasText: name }).first().waitFor();
}

/** Puts the cursor at a line and a column, and waits for the lightbulb. */
async function goTo(page, place) {
    await page.locator('.editor-instance .view-line').first().click();
    await page.keyboard.press('Control+G');
    await page.locator('.quick-input-widget').waitFor();
    await page.keyboard.type(place);
    await page.keyboard.press('Enter');
    await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
    await page.locator('.lightBulbWidget:visible, .codicon-gutter-lightbulb-auto-fix:visible, .codicon-gutter-lightbulb:visible').first().waitFor();
}

/** Takes an entry of the lightbulb. */
async function choose(page, words) {
    await page.keyboard.press('Control+.');
    const entry = page.locator('.action-widget .monaco-list-row', { hasText: words }).first();
    await entry.waitFor();
    await page.mouse.move(20, 20); // until the mouse moves, an opened menu ignores it
    await page.mouse.move(30, 30);
    await entry.click();
}

async function until(done) {
    for (const end = Date.now() + PATIENCE; !done();) {
        assert.ok(Date.now() < end, String(done));
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
}
