/**
 * The screenshots of the README and the walkthrough, taken from the editor the tests drive, in every kind of theme: what a
 * user sees in a small window, nothing dragged and nothing enlarged.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const VIEW = { width: 660, height: 500 };
const PATIENCE = 60_000;
const AWAY = [-10, -10];
/** So far the line in question stands above the middle: hovers and menus open below it. In pixels. */
const LIFTED = 63;
const DIAGNOSED = 'loss.backward()';
/** By what walkthroughs call it: the theme, and the class that VS Code then gives the page. */
export const THEMES = {
    light: ['Default Light Modern', 'vs'],
    dark: ['Default Dark Modern', 'vs-dark'],
    hc: ['Default High Contrast', 'hc-black'],
    hcLight: ['Default High Contrast Light', 'hc-light'],
};

export async function takePictures(browser, editor, folder) {
    mkdirSync(folder, { recursive: true });
    const page = await browser.newPage({ viewport: VIEW, deviceScaleFactor: 2 });
    page.setDefaultTimeout(PATIENCE);
    const file = join(editor.workspace, 'train.py');
    const line = readFileSync(file, 'utf8').split('\n').findIndex((text) => text.includes(DIAGNOSED)) + 1;
    await page.goto(editor.url([['openFile', file]]));
    await page.locator('.view-line').first().waitFor();
    await page.keyboard.press('Control+B');
    for (const [name, [theme, kind]] of Object.entries(THEMES)) {
        setTheme(editor, theme);
        await page.locator(`.monaco-workbench.${kind}`).waitFor();
        const take = async (what) => {
            await page.waitForTimeout(1500);
            await page.screenshot({ path: join(folder, `${what}-${name}.png`) });
        };
        await goTo(page, line + 1);
        await page.locator('.squiggly-error').first().waitFor();
        await take('squiggle');

        const box = await page.locator('.squiggly-error').first().boundingBox();
        await page.mouse.move(box.x + 60, box.y + box.height / 2, { steps: 5 });
        await page.locator('.monaco-hover:not(.hidden) .hover-contents').first().waitFor();
        await take('hover');
        await page.mouse.move(...AWAY);

        await goTo(page, line);
        await page.keyboard.press('Control+.');
        await page.locator('.action-widget', { hasText: 'detach' }).waitFor();
        await take('lightbulb');
        await page.keyboard.press('Escape');
    }
    await page.close();
}

export function setTheme(editor, theme) {
    mkdirSync(join(editor.workspace, '.vscode'), { recursive: true });
    writeFileSync(join(editor.workspace, '.vscode', 'settings.json'), JSON.stringify({ 'workbench.colorTheme': theme }));
}

/** Puts the cursor into a line. */
async function goTo(page, line) {
    await page.locator('.view-line').nth(1).click();
    await page.keyboard.press('Control+G');
    await page.locator('.quick-input-widget').waitFor();
    await page.keyboard.type(`${line}:9`);
    await page.keyboard.press('Enter');
    await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
    await page.mouse.move(VIEW.width / 2, VIEW.height / 2);
    await page.mouse.wheel(0, LIFTED);
    await page.mouse.move(...AWAY);
}
