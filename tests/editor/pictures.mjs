/** The screenshots of the README and the walkthrough, taken from the editor the tests drive. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

const VIEW = { width: 1000, height: 620 };

export async function takePictures(browser, editor, folder) {
    mkdirSync(folder, { recursive: true });
    const page = await browser.newPage({ viewport: VIEW, deviceScaleFactor: 2 });
    await page.goto(editor.url([['openFile', join(editor.workspace, 'train.py')]]));
    const squiggle = page.locator('.squiggly-error').first();
    await squiggle.waitFor({ timeout: 60_000 });
    await page.keyboard.press('Control+B');
    await closeNotifications(page);
    await goTo(page, 'loss.backward()');

    await page.mouse.move(VIEW.width - 60, 300);
    await page.waitForTimeout(500);
    await page.screenshot({ path: join(folder, 'squiggle.png') });

    const box = await squiggle.boundingBox();
    await page.mouse.move(box.x + 30, box.y + 4, { steps: 5 });
    await page.locator('.monaco-hover:not(.hidden) .hover-contents').first().waitFor();
    await page.waitForTimeout(1000);
    await page.screenshot({ path: join(folder, 'hover.png') });
    await page.keyboard.press('Escape');
    await page.mouse.move(VIEW.width - 60, 300);

    await page.keyboard.press('Control+.');
    await page.locator('.action-widget').waitFor();
    await page.waitForTimeout(500);
    await page.screenshot({ path: join(folder, 'lightbulb.png') });
    await page.close();
}

async function goTo(page, text) {
    await page.locator('.view-line', { hasText: text.replaceAll(' ', '\u00a0') }).first().click();
}

async function closeNotifications(page) {
    for (const button of await page.locator('.notification-toast .codicon-notifications-clear').all()) {
        await button.click({ force: true });
    }
}
