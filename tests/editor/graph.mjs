/**
 * The picture of a graph beside the text: the lightbulb opens it, fitted on the hazard with the rest folded; its boxes and the entries of
 * its list lead to their lines, it is zoomed by buttons and keys, says when it is out of date, and can be read in every kind of theme.
 */

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inPage } from './contrast.mjs';
import { Editor } from './editor.mjs';

const MAIN = `import torch

w = torch.ones(3, requires_grad=True)
y = w.exp()
y += 1
loss = y.sum()
loss.backward()
`;
const WRITTEN = 5;
/** A program with a large picture. */
const LARGE = join('examples', 'gan_reused_fake.py');
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
    cpSync(LARGE, join(workspace, 'large.py'));
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
        await atLine(page, 'loss = y.sum()');
        await drawing.locator('g[data-place]', { hasText: 'ExpBackward0' }).first().focus();
        await page.keyboard.press('Enter');
        await atLine(page, 'y = w.exp()');
        await drawing.locator('summary').click();
        await drawing.locator('a[data-place]', { hasText: 'add_' }).first().click();
        await atLine(page, 'y += 1');
        console.log('ok     boxes and entries of the list lead to their lines, by mouse and by keyboard');

        for (const [name, theme] of Object.entries(THEMES)) {
            set(editor, { 'workbench.colorTheme': theme });
            await page.waitForTimeout(3000);
            const worst = await drawing.locator('svg').evaluate(inPage(faintest));
            assert.ok(worst.contrast >= CONTRAST, `${name}: ${JSON.stringify(worst)}`);
            assert.ok(worst.tips >= OF_SIGNS, `${name}: the heads of arrows: ${worst.tips}`);
            assert.ok(worst.hazard >= OF_SIGNS, `${name}: what is red: ${worst.hazard}`);
            if (pictures && name === KEPT) {
                await page.screenshot({ path: join(pictures, `graph-${name}.png`) });
            }
        }
        console.log('ok     letters, heads of arrows and what is red can be seen in light, dark and high contrast');

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
        await testLarge(browser, editor);
    } finally {
        await editor.stop();
        rmSync(workspace, { recursive: true });
    }
}

/** A large picture opens with all of the hazard in view, and little else. */
async function testLarge(browser, editor) {
    const page = await browser.newPage({ viewport: { width: 1240, height: 900 } });
    page.setDefaultTimeout(PATIENCE);
    await page.goto(editor.url([['openFile', join(editor.workspace, 'large.py')]]));
    await page.locator('.editor-instance .view-line').first().waitFor();
    await page.keyboard.press('Control+B');
    const text = readFileSync(LARGE, 'utf8').split('\n');
    await goTo(page, text.findIndex((line) => line.includes('g_loss.backward()')) + 1);
    await page.locator('.squiggly-error').first().waitFor();
    await page.keyboard.press('F1');
    await page.keyboard.type('Show the Autograd Graph');
    await page.keyboard.press('Enter');
    const picture = await shown(page);
    const frame = picture.locator('#drawing');
    const boxes = () => picture.locator('g[data-node]').count();
    const zoom = () => frame.getAttribute('data-zoom').then(Number);
    await until(page, async () => await frame.evaluate(out) === 0 || 'some of what is red is out of view');
    const [few, fitted] = [await boxes(), await zoom()];
    await picture.locator('g[data-fold]').first().click();
    await until(page, async () => await boxes() > few || 'nothing was opened');
    await picture.getByRole('button', { name: /Show all \d+ boxes/ }).click();
    await until(page, async () => await boxes() > 2 * few || `${await boxes()} boxes`);
    assert.equal(await picture.locator('g[data-fold]').count(), 0);
    await picture.getByRole('button', { name: 'Fold what is not red' }).click();
    await until(page, async () => await boxes() === few || 'it should be folded again');
    console.log('ok     a large picture opens with what is red in view and the rest folded; folded boxes open');

    await frame.focus();
    await page.keyboard.press('+');
    await until(page, async () => await zoom() > fitted || 'it should be larger');
    await frame.evaluate((box) => box.scrollTo(0, 0));
    await page.keyboard.press('ArrowDown');
    await until(page, async () => await frame.evaluate((box) => box.scrollTop > 0) || 'it should have moved');
    await page.keyboard.press('0');
    await until(page, async () => await zoom() === fitted && await frame.evaluate(out) === 0 || 'it should be fitted');
    await picture.getByRole('button', { name: '−' }).click();
    await until(page, async () => await zoom() < fitted || 'it should be smaller');
    await picture.getByRole('button', { name: 'Fit red boxes' }).click();
    await until(page, async () => await zoom() === fitted || 'it should be fitted');
    console.log('ok     it is zoomed, moved and fitted by keys and by buttons');
    await page.close();
}

/** Runs in the page: how much of what is red is out of view. */
function out(frame) {
    const { left, top, right, bottom } = frame.getBoundingClientRect();
    const boxes = [...frame.querySelectorAll('.hazard')].map((each) => each.getBoundingClientRect());
    return boxes.length === 0 ? -1 : boxes.filter((box) => box.left < left || box.top < top || box.right > right || box.bottom > bottom).length;
}

/** Waits until `done` says true; what else it says is what is wrong. */
async function until(page, done) {
    for (const end = Date.now() + 30_000; ;) {
        const said = await done();
        if (said === true) {
            return;
        }
        assert.ok(Date.now() < end, String(said));
        await page.waitForTimeout(100);
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
async function atLine(page, text) {
    await until(page, async () => {
        const found = await page.evaluate(() => {
            const cursor = document.querySelector('.editor-instance .cursors-layer .cursor')?.getBoundingClientRect();
            const lines = [...document.querySelectorAll('.editor-instance .view-line')];
            const line = lines.find((each) => cursor !== undefined && Math.abs(each.getBoundingClientRect().top - cursor.top) < 4);
            return line?.textContent.replaceAll('\u00a0', ' ').trim();
        });
        return found === text || `the cursor should be at ${text}, it is at ${found}`;
    });
}

/** Runs in the page: which letters of the drawing stand out least from the box, or else the page, behind them, and how much the heads of arrows do. */
function faintest(svg, { parts, over, contrastOf, page }) {
    const fillOf = (element) => parts(getComputedStyle(element).fill);
    const lane = over(fillOf(svg.querySelector('.lane')), page);
    const tips = Math.min(...['.tip', '.bad-tip'].map((each) => contrastOf(over(fillOf(svg.querySelector(each)), lane), lane)));
    const hazard = Math.min(...[...svg.querySelectorAll('.hazard')].map((each) => contrastOf(over(parts(getComputedStyle(each).stroke), lane), lane)));
    let worst = { contrast: Infinity, text: '', tips, hazard };
    for (const text of svg.querySelectorAll('text')) {
        const box = text.closest('g')?.querySelector('rect, path, polygon, ellipse');
        const fill = box ? getComputedStyle(box).fill : 'none';
        const behind = fill === 'none' ? page : over(parts(fill), page);
        const ink = over(parts(getComputedStyle(text).fill), behind);
        const contrast = contrastOf(ink, behind);
        if (contrast < worst.contrast) {
            worst = { contrast, text: text.textContent, ink, behind, tips, hazard };
        }
    }
    return worst;
}
