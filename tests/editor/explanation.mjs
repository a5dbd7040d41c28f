/**
 * The page that explains an error: two actions lead from a traceback in the terminal to a program without it, also where the cure is in
 * another file or may change what is computed. Steps are links, PyTorch's own words are folded, and all can be read in every kind of theme.
 */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAIN, NET, SHARED } from './cures.mjs';
import { inPage } from './contrast.mjs';
import { Editor } from './editor.mjs';
import { THEMES } from './pictures.mjs';
import { clickLink, explanation, raise } from './terminal.mjs';

const MESSAGE = 'RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). '
    + 'Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward '
    + 'through the graph a second time or if you need to access saved tensors after calling backward.';
/** What PyTorch 2.13 prints for the programs, without its own lines. */
const traceback = (file, line, code) => `Traceback (most recent call last):
  File "/home/me/${file}", line ${line}, in <module>
    ${code}
${MESSAGE}
`;
/** Letters must stand out from what is behind them by so much (WCAG 2, level AA). */
const CONTRAST = 4.5;
const PATIENCE = 60_000;

export async function testExplanation(browser, program) {
    const workspace = mkdtempSync(join(tmpdir(), 'tapelint-explanation-'));
    const files = {
        'main.py': MAIN,
        'net.py': NET,
        'shared.py': SHARED,
        'traceback.txt': traceback('main.py', 8, 'net(x).mean().backward()'),
        'pyproject.toml': '',
    };
    Object.entries(files).forEach(([name, text]) => writeFileSync(join(workspace, name), text));
    mkdirSync(join(workspace, '.vscode'));
    const settings = { 'files.autoSave': 'afterDelay', 'files.autoSaveDelay': 100 };
    const set = (folder, more = {}) => writeFileSync(join(folder, '.vscode', 'settings.json'), JSON.stringify({ ...settings, ...more }));
    set(workspace);
    const editor = await Editor.start({ ...program, workspace });
    try {
        const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
        const page = await context.newPage();
        page.setDefaultTimeout(PATIENCE);
        await page.setViewportSize({ width: 1240, height: 900 });
        await page.goto(editor.url([]));
        await page.locator('.explorer-viewlet .monaco-list-row').first().waitFor();
        const text = (name) => readFileSync(join(editor.workspace, name), 'utf8');
        const shown = explanation(page);

        await raise(page);
        const line = page.locator('.xterm-rows > div', { hasText: 'RuntimeError: Trying' }).first();
        const box = await line.boundingBox();
        await page.keyboard.down('Control');
        await clickLink(page, box.x + 60, box.y + box.height / 2, shown.locator('h2'));
        await page.keyboard.up('Control');
        const cure = shown.locator('button[data-action]').first();
        assert.match(await cure.textContent(), /net\.py/);
        const said = await shown.locator('body').innerText();
        assert.doesNotMatch(said, /--|\/tmp|tapelint check/);
        assert.equal(await shown.getByText('Specify retain_graph=True').isVisible(), false);
        await shown.locator('summary').click();
        await shown.getByText('Specify retain_graph=True').waitFor();
        await shown.locator('summary').click();
        console.log("ok     an explanation names no options and no absolute paths, and folds PyTorch's message");

        const room = await shown.locator('body').evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
        assert.ok(room[0] <= room[1], `what is ${room[0]} wide has ${room[1]} pixels`);
        for (const [name, [theme, kind]] of Object.entries(THEMES)) {
            set(editor.workspace, { 'workbench.colorTheme': theme });
            await page.locator(`.monaco-workbench.${kind}`).waitFor();
            await page.waitForTimeout(2000);
            const worst = await shown.locator('body').evaluate(inPage(faintest));
            assert.ok(worst.contrast >= CONTRAST, `${name}: ${JSON.stringify(worst)}`);
        }
        console.log('ok     it fits beside the text, and can be read in light, dark and high contrast');

        const step = shown.locator('li a', { hasText: 'main.py:8' }).last();
        await step.focus();
        await page.keyboard.press('Enter');
        await page.locator('.editor-instance .line-numbers.active-line-number', { hasText: '8' }).first().waitFor();
        console.log('ok     its steps are links, by keyboard too');

        await cure.click();
        await until(() => /detach\(\)/.test(text('net.py')));
        await page.locator('.tab.active, .title .label-name', { hasText: 'net.py' }).first().waitFor();
        await shown.getByText('Done: ').waitFor();
        const notice = page.locator('.notification-toast', { hasText: 'In net.py' });
        await notice.getByText('Undo', { exact: true }).click();
        await until(() => text('net.py') === NET);
        console.log('ok     two clicks from a traceback to a cure in another file, and one takes it back');

        await page.evaluate((copied) => navigator.clipboard.writeText(copied), traceback('shared.py', 6, '(y * 3 + x).sum().backward()'));
        await page.keyboard.press('F1');
        await page.locator('.quick-input-widget').waitFor();
        await page.keyboard.type('tapelint: Explain a PyTorch Error');
        await page.keyboard.press('Enter');
        await shown.getByText('This may change what is computed.').first().waitFor();
        await shown.locator('button[data-action]').first().click();
        await until(() => text('shared.py') !== SHARED);
        console.log('ok     an unsafe cure says that it is, and is made when it is chosen');
        await context.close();
    } finally {
        await editor.stop();
        rmSync(workspace, { recursive: true });
    }
}

async function until(done) {
    for (const end = Date.now() + PATIENCE; !done();) {
        assert.ok(Date.now() < end, String(done));
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

/** Runs in the page: which words stand out least from what is behind them. */
function faintest(body, { parts, over, contrastOf, page }) {
    const behind = (element) => (element === null ? page : over(parts(getComputedStyle(element).backgroundColor), behind(element.parentElement)));
    let worst = { contrast: Infinity, text: '' };
    for (const each of body.querySelectorAll('h2, h3, p, li, a, button, code, summary, span')) {
        const back = behind(each);
        const ink = over(parts(getComputedStyle(each).color), back);
        const contrast = contrastOf(ink, back);
        if (each.getClientRects().length > 0 && contrast < worst.contrast) {
            worst = { contrast, text: each.textContent, ink, back };
        }
    }
    return worst;
}
