/**
 * The picture of a graph beside the text: the lightbulb opens it, its boxes and the entries of its list lead to their lines, it says
 * when it is out of date, and it can be read in every kind of theme.
 */

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Editor } from './editor.mjs';

const MAIN = `import torch

w = torch.ones(3, requires_grad=True)
y = w.exp()
y += 1
loss = y.sum()
loss.backward()
`;
const WRITTEN = 5;
const PATIENCE = 60_000;
/** Letters must stand out from what is behind them by so much (WCAG 2, level AA). */
const CONTRAST = 4.5;
/** Signs must stand out by so much. */
const OF_SIGNS = 3;
const THEMES = {
    light: 'Default Light Modern',
    dark: 'Default Dark Modern',
    hc: 'Default High Contrast',
    hcLight: 'Default High Contrast Light',
};
const KEPT = 'light';

export async function testGraph(browser, program, pictures) {
    const workspace = mkdtempSync(join(tmpdir(), 'tapelint-graph-'));
    writeFileSync(join(workspace, 'main.py'), MAIN);
    cpSync(join(program.workspace, 'train.py'), join(workspace, 'train.py'));
    mkdirSync(join(workspace, '.vscode'));
    const editor = await Editor.start({ ...program, workspace });
    try {
        const page = await browser.newPage({ viewport: { width: 1240, height: 620 }, deviceScaleFactor: 2 });
        page.setDefaultTimeout(PATIENCE);
        await page.goto(editor.url([['openFile', join(editor.workspace, 'main.py')]]));
        await page.locator('.squiggly-error').first().waitFor();
        await page.keyboard.press('Control+B');
        await goTo(page, WRITTEN);
        await page.locator('.lightBulbWidget:visible, .codicon-gutter-lightbulb-auto-fix:visible').first().waitFor();
        await page.keyboard.press('Control+.');
        const entry = page.locator('.action-widget .monaco-list-row', { hasText: 'Show the autograd graph' });
        await entry.waitFor();
        await page.mouse.move(20, 20); // until the mouse moves, an opened menu ignores it
        await page.mouse.move(30, 30);
        await entry.click();
        const drawing = await shown(page);
        console.log('ok     the lightbulb of a finding opens its graph');

        await drawing.locator('g[data-place]', { hasText: 'SumBackward0' }).first().click();
        await until(page, 'loss = y.sum()');
        await drawing.locator('g[data-place]', { hasText: 'ExpBackward0' }).first().focus();
        await page.keyboard.press('Enter');
        await until(page, 'y = w.exp()');
        await drawing.locator('summary').click();
        await drawing.locator('a[data-place]', { hasText: 'add_' }).first().click();
        await until(page, 'y += 1');
        console.log('ok     boxes and entries of the list lead to their lines, by mouse and by keyboard');

        for (const [name, theme] of Object.entries(THEMES)) {
            set(editor, { 'workbench.colorTheme': theme });
            await page.waitForTimeout(3000);
            const worst = await drawing.locator('svg').evaluate(faintest);
            assert.ok(worst.contrast >= CONTRAST, `${name}: ${JSON.stringify(worst)}`);
            assert.ok(worst.tips >= OF_SIGNS, `${name}: the heads of arrows: ${worst.tips}`);
            if (pictures && name === KEPT) {
                await page.screenshot({ path: join(pictures, `graph-${name}.png`) });
            }
        }
        console.log('ok     letters and heads of arrows can be seen in light, dark and high contrast');

        set(editor, {});
        assert.equal(await drawing.locator('#old').isVisible(), false);
        await page.locator('.editor-instance .view-line').first().click();
        await page.keyboard.press('Control+Home');
        await page.keyboard.type('# more\n');
        await drawing.locator('#old').waitFor({ state: 'visible' });
        await drawing.locator('#again').click();
        await (await shown(page)).locator('#old').waitFor({ state: 'hidden' });
        console.log('ok     after an edit it says that it is out of date, and is drawn again');
        await page.close();
    } finally {
        await editor.stop();
        rmSync(workspace, { recursive: true });
    }
}

/** The page of the picture, once it is there. */
async function shown(page) {
    const drawing = page.frameLocator('iframe.webview').frameLocator('iframe#active-frame');
    await drawing.locator('svg').waitFor();
    return drawing;
}

/** The settings of the workspace. */
function set(editor, settings) {
    writeFileSync(join(editor.workspace, '.vscode', 'settings.json'), JSON.stringify(settings));
}

/** Puts the cursor at the start of a line. */
async function goTo(page, line) {
    await page.locator('.editor-instance .view-line').first().click();
    await page.keyboard.press('Control+G');
    await page.locator('.quick-input-widget').waitFor();
    await page.keyboard.type(`${line}:1`);
    await page.keyboard.press('Enter');
    await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
}

/** Waits until the cursor is in the line with this text. */
async function until(page, text) {
    const deadline = Date.now() + 30_000;
    for (;;) {
        const found = await page.evaluate(() => {
            const cursor = document.querySelector('.editor-instance .cursors-layer .cursor')?.getBoundingClientRect();
            const lines = [...document.querySelectorAll('.editor-instance .view-line')];
            const line = lines.find((each) => cursor !== undefined && Math.abs(each.getBoundingClientRect().top - cursor.top) < 4);
            return line?.textContent.replaceAll('\u00a0', ' ').trim();
        });
        if (found === text) {
            return;
        }
        assert.ok(Date.now() < deadline, `the cursor should be at ${text}, it is at ${found}`);
        await page.waitForTimeout(100);
    }
}

/** Runs in the page: which letters of the drawing stand out least from the box, or else the page, behind them, and how much the heads of arrows do. */
function faintest(svg) {
    const parts = (colour) => {
        const [red, green, blue, alpha = 1] = colour.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
        return { red, green, blue, alpha };
    };
    const over = (top, below) => {
        const mix = (name) => top[name] * top.alpha + below[name] * (1 - top.alpha);
        return { red: mix('red'), green: mix('green'), blue: mix('blue'), alpha: 1 };
    };
    const light = ({ red, green, blue }) => {
        const [r, g, b] = [red, green, blue].map((each) => each / 255).map((each) => (each <= 0.03928 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const probe = document.createElement('span');
    probe.style.color = 'var(--vscode-editor-background)';
    document.body.append(probe);
    const page = parts(getComputedStyle(probe).color);
    probe.remove();
    const contrastOf = (ink, behind) => {
        const [high, low] = [light(ink), light(behind)].sort((a, b) => b - a);
        return (high + 0.05) / (low + 0.05);
    };
    const fillOf = (element) => parts(getComputedStyle(element).fill);
    const lane = over(fillOf(svg.querySelector('.lane')), page);
    const tips = Math.min(...['.tip', '.bad-tip'].map((each) => contrastOf(over(fillOf(svg.querySelector(each)), lane), lane)));
    let worst = { contrast: Infinity, text: '', tips };
    for (const text of svg.querySelectorAll('text')) {
        const box = text.closest('g')?.querySelector('rect, path, polygon, ellipse');
        const fill = box ? getComputedStyle(box).fill : 'none';
        const behind = fill === 'none' ? page : over(parts(fill), page);
        const ink = over(parts(getComputedStyle(text).fill), behind);
        const contrast = contrastOf(ink, behind);
        if (contrast < worst.contrast) {
            worst = { contrast, text: text.textContent, ink, behind, tips };
        }
    }
    return worst;
}
