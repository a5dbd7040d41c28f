/** What takes long is shown in the status bar as it goes on: an analysis, and the check of the workspace. */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Editor } from './editor.mjs';

/** Some seconds of work: paths that differ in each iteration. */
const FUNCTION = `
def trainNUMBER(model, data, opt):
    for epoch in range(10):
        for x, y in data:
            opt.zero_grad()
            h = model(x)
            for k in range(5):
                h = torch.tanh(h) * h + k
                if h.sum() > NUMBER:
                    h = h.exp()
                else:
                    h = h.sigmoid()
            loss = (h - y).pow(2).mean()
            loss.backward()
            opt.step()
`;
const CLOSED = 12;
const PATIENCE = { timeout: 60_000 };

function program(functions) {
    const all = Array.from({ length: functions }, (_, number) => FUNCTION.replaceAll('NUMBER', String(number)));
    return `import torch\n${all.join('')}`;
}

export async function testProgress(browser, { cache, vsix }) {
    const workspace = mkdtempSync(join(tmpdir(), 'tapelint-progress-'));
    writeFileSync(join(workspace, 'long.py'), program(150));
    for (let number = 0; number < CLOSED; number++) {
        writeFileSync(join(workspace, `closed${number}.py`), program(20));
    }
    mkdirSync(join(workspace, '.vscode'));
    const editor = await Editor.start({ cache, vsix, workspace });
    try {
        set(editor, {});
        const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
        page.setDefaultTimeout(PATIENCE.timeout);
        await page.goto(editor.url([['openFile', join(editor.workspace, 'long.py')]]));
        const shown = page.locator('[id="status.progress"]', { hasText: 'tapelint' });
        await shown.filter({ hasText: 'tapelint: analysing long.py' }).waitFor();
        await shown.waitFor({ state: 'detached' });
        console.log('ok     the status bar says which file is analysed, until that is done');

        set(editor, { 'tapelint.diagnosticMode': 'workspace' });
        const counts = [];
        for (let wanted = 0; wanted < 2; wanted++) {
            const other = counts.length ? { hasNotText: counts[0] } : {};
            const counted = shown.filter({ hasText: new RegExp(`tapelint: \\d+ of ${CLOSED + 1} files`), ...other });
            counts.push((await counted.innerText()).trim());
        }
        const [first, second] = counts.map((text) => Number(/(\d+) of/.exec(text)?.[1]));
        assert.ok(first < second, counts.join(', then '));
        await shown.waitFor({ state: 'detached' });
        console.log('ok     and how many files of the workspace are checked');
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
