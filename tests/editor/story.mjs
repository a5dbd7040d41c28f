/**
 * Story mode as a user sees it: numbers in the gutter, words behind the lines, keys that walk the steps across files,
 * and nothing left of it once the cursor has gone or the text has changed.
 */

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Editor } from './editor.mjs';

const HELPER = `def grown(x):
    return x.exp()
`;
const MAIN = `import torch
from helper import grown

x = torch.ones(3, requires_grad=True)
y = grown(x)
y += 1
y.sum().backward()
print("done")
`;
const WRITTEN = 6;
const LAST = 8;
/** The line of train.py at which PyTorch raises. */
const LOSS = 40;
const TOLD = ['2 written, version 1', '3 needs version 0: raises'];
const THEMES = { light: 'Default Light Modern', dark: 'Default Dark Modern' };
const PATIENCE = { timeout: 60_000 };

export async function testStory(browser, program, pictures) {
    const workspace = mkdtempSync(join(tmpdir(), 'tapelint-story-'));
    writeFileSync(join(workspace, 'helper.py'), HELPER);
    writeFileSync(join(workspace, 'main.py'), MAIN);
    cpSync(join(program.workspace, 'train.py'), join(workspace, 'train.py'));
    mkdirSync(join(workspace, '.vscode'));
    const editor = await Editor.start({ ...program, workspace });
    set(editor, { 'workbench.statusBar.visible': true });
    try {
        const page = await browser.newPage({ viewport: { width: 1080, height: 480 }, deviceScaleFactor: 2 });
        await page.goto(editor.url([['openFile', join(editor.workspace, 'main.py')]]));
        await page.locator('.squiggly-error').first().waitFor(PATIENCE);

        await goTo(page, WRITTEN);
        await until(page, TOLD);
        assert.deepEqual(await numbers(page), ['2', '3']);
        console.log('ok     the steps of a story are numbered and told');

        await page.keyboard.press('Control+F8');
        assert.equal(await lineAtCursor(page), 'y.sum().backward()');
        const said = page.locator('.statusbar-item', { hasText: '3 of 3: needs version 0: raises' });
        await said.waitFor();
        const [whole, seen] = await said.locator('a').evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
        assert.ok(whole <= seen, `${seen} of ${whole} pixels of the step are seen in the status bar`);
        await page.keyboard.press('Control+F8');
        await until(page, ['1 saved by exp, version 0']);
        assert.equal(await lineAtCursor(page), 'return x.exp()');
        await page.keyboard.press('Control+Shift+F8');
        await until(page, TOLD);
        assert.equal(await lineAtCursor(page), 'y.sum().backward()');
        console.log('ok     keys walk the steps, in other files too, and the status bar says each');

        await goTo(page, LAST);
        await until(page, []);
        await goTo(page, WRITTEN);
        await until(page, TOLD);
        await page.keyboard.press('End');
        await page.keyboard.type('0');
        await until(page, TOLD, 'the story of the new text');
        await page.keyboard.press('Home');
        await page.keyboard.type('# ');
        await until(page, []);
        console.log('ok     the story goes with the cursor and with the text');

        await page.keyboard.press('Control+z');
        await page.keyboard.press('Control+z');
        await goTo(page, WRITTEN);
        await until(page, TOLD);
        set(editor, { 'tapelint.storyMode': false });
        await until(page, []);
        console.log('ok     a setting switches story mode off');
        await page.close();
        if (pictures) {
            await takePictures(browser, editor, pictures);
        }
    } finally {
        await editor.stop();
        rmSync(workspace, { recursive: true });
    }
}

/** The settings of the workspace. */
function set(editor, settings) {
    writeFileSync(join(editor.workspace, '.vscode', 'settings.json'), JSON.stringify(settings));
}

/** Puts the cursor at the start of a line. */
async function goTo(page, line) {
    await page.locator('.view-line').first().click();
    await page.keyboard.press('Control+G');
    await page.locator('.quick-input-widget').waitFor();
    await page.keyboard.type(`${line}:1`);
    await page.keyboard.press('Enter');
    await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
}

/** Waits until exactly these words stand behind the lines, in the order of the lines. */
async function until(page, words, what = 'the story') {
    const deadline = Date.now() + 30_000;
    for (;;) {
        const found = await told(page);
        if (JSON.stringify(found) === JSON.stringify(words)) {
            return;
        }
        assert.ok(Date.now() < deadline, `${what}: wanted ${JSON.stringify(words)}, there is ${JSON.stringify(found)}`);
        await page.waitForTimeout(100);
    }
}

/** What decorations add behind the lines: VS Code draws it as the content of pseudo-elements. */
function told(page) {
    return page.evaluate(() => {
        const found = [];
        for (const line of document.querySelectorAll('.editor-instance .view-line')) {
            for (const span of line.querySelectorAll('span')) {
                const { content } = getComputedStyle(span, '::after');
                if (content !== 'none' && content !== 'normal') {
                    found.push({ top: line.getBoundingClientRect().top, text: JSON.parse(content).replaceAll('\u00a0', ' ') });
                }
            }
        }
        return found.sort((a, b) => a.top - b.top).map(({ text }) => text);
    });
}

/** The numbers in the gutter, from top to bottom, read out of the icons. */
function numbers(page) {
    return page.evaluate(() => {
        const found = [];
        for (const mark of document.querySelectorAll('.editor-instance .glyph-margin-widgets .cgmr')) {
            const url = /base64,([\w+/=]+)/.exec(getComputedStyle(mark).backgroundImage)?.[1];
            const label = url === undefined ? undefined : /<text[^>]*>([^<]*)</.exec(atob(url))?.[1];
            if (label !== undefined) {
                found.push({ top: mark.getBoundingClientRect().top, label });
            }
        }
        return found.sort((a, b) => a.top - b.top).map(({ label }) => label);
    });
}

/** The text of the line with the cursor, once the editor has got there. */
async function lineAtCursor(page) {
    await page.waitForTimeout(1000);
    return page.evaluate(() => {
        const cursor = document.querySelector('.editor-instance .cursors-layer .cursor').getBoundingClientRect();
        const lines = [...document.querySelectorAll('.editor-instance .view-line')];
        const line = lines.find((each) => Math.abs(each.getBoundingClientRect().top - cursor.top) < 4);
        return line?.textContent.replaceAll('\u00a0', ' ').trim();
    });
}

/** Story mode in light and dark, with nothing beside it. */
async function takePictures(browser, editor, folder) {
    set(editor, {});
    const page = await browser.newPage({ viewport: { width: 1000, height: 580 }, deviceScaleFactor: 2 });
    await page.goto(editor.url([['openFile', join(editor.workspace, 'train.py')]]));
    await page.locator('.view-line').first().waitFor(PATIENCE);
    await page.keyboard.press('Control+B');
    await goTo(page, LOSS);
    await page.locator('.squiggly-error').first().waitFor(PATIENCE);
    for (const [name, theme] of Object.entries(THEMES)) {
        set(editor, { 'workbench.colorTheme': theme });
        await page.waitForTimeout(3000);
        await page.screenshot({ path: join(folder, `story-${name}.png`) });
    }
    await page.close();
}
