/** The screenshots of the README and the walkthrough, taken from the editor the tests drive. */

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const VIEW = { width: 1080, height: 680 };
const PATIENCE = 60_000;
const AWAY = [VIEW.width - 80, 60];
const DIAGNOSED = 'loss.backward()';
const CODE = 'TL102';

export async function takePictures(browser, editor, folder) {
    mkdirSync(folder, { recursive: true });
    const page = await browser.newPage({ viewport: VIEW, deviceScaleFactor: 2 });
    page.setDefaultTimeout(PATIENCE);
    const file = join(editor.workspace, 'train.py');
    await page.goto(editor.url([['openFile', file]]));
    await page.locator('.view-line').first().waitFor();
    await page.keyboard.press('Control+B');
    await showDiagnosed(page, file);
    const squiggle = page.locator('.squiggly-error').first();
    await squiggle.waitFor();
    const take = async (name) => {
        await page.waitForTimeout(1000);
        await page.screenshot({ path: join(folder, name) });
    };

    await page.mouse.move(...AWAY);
    await page.keyboard.press('Control+.');
    await page.locator('.action-widget', { hasText: 'detach' }).waitFor();
    await take('lightbulb.png');
    await page.keyboard.press('Escape');

    const box = await squiggle.boundingBox();
    await page.mouse.move(box.x + 60, box.y + box.height / 2, { steps: 5 });
    await page.locator('.monaco-hover:not(.hidden) .hover-contents').first().waitFor();
    await enlarge(page, page.locator('.monaco-resizable-hover, .monaco-hover:not(.hidden)').first());
    await take('hover.png');
    await page.mouse.move(...AWAY);

    // The Problems panel, with the steps of the story unfolded.
    await page.keyboard.press('Control+Shift+M');
    const problem = page.locator('.markers-panel .monaco-list-row', { hasText: CODE }).first();
    await problem.click();
    await page.keyboard.press('ArrowRight');
    await showDiagnosed(page, file);
    await page.mouse.move(...AWAY);
    await take('squiggle.png');
    await page.close();
}

/** VS Code keeps hovers low and lets one drag their lower edge. */
async function enlarge(page, hover) {
    const { x, y, width, height } = await hover.boundingBox();
    await page.mouse.move(x + width / 2, y + height - 1, { steps: 5 });
    await page.waitForTimeout(400);
    await page.mouse.down();
    await page.mouse.move(x + width / 2, VIEW.height - 20, { steps: 5 });
    await page.mouse.up();
}

/** Puts the cursor on the diagnosed line, in the middle of the editor. */
async function showDiagnosed(page, file) {
    const line = readFileSync(file, 'utf8').split('\n').findIndex((text) => text.includes(DIAGNOSED)) + 1;
    await page.locator('.view-line').nth(1).click();
    await page.keyboard.press('Control+G');
    await page.locator('.quick-input-widget').waitFor();
    await page.keyboard.type(`${line}:9`);
    await page.keyboard.press('Enter');
    await page.waitForTimeout(500);
}
