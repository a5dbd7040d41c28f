/** Opens the home page of the built site as on a desk and on a telephone: `make docs-test`. */

import assert from 'node:assert/strict';
import { test } from './site.mjs';

/** Milliseconds for the first answer of the playground, which waits for Python to start. */
const START = 120_000;

const opens = (width, height) => async (context, origin) => {
    const page = await context.newPage();
    await page.setViewportSize({ width, height });
    await page.goto(`${origin}/index.html`);
    const box = async (words) => {
        const found = await page.getByText(words).first().boundingBox();
        assert.ok(found !== null, words);
        return found;
    };
    const [install, error, squiggle] = [await box('pip install'), await box('RuntimeError: Trying to backward'), await box('hidden.sum().backward()')];
    assert.ok(install.y < error.y && error.y < squiggle.y && squiggle.y + squiggle.height < height, JSON.stringify([install, error, squiggle]));
    assert.equal(await page.locator('.tl-error').evaluate((line) => getComputedStyle(line).textDecorationStyle), 'wavy');
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, 'the page is wider than the window');
    const sign = page.locator('.md-logo img').first();
    assert.equal(await sign.evaluate((image) => image.complete && image.naturalWidth), 256);
    assert.match(await page.locator('link[rel="icon"]').getAttribute('href'), /images\/icon\.png$/);
    await page.close();
};

await test({
    'opens with the error and what explains it, at 1280 pixels': opens(1280, 800),
    'opens with the error and what explains it, at 390 pixels': opens(390, 844),

    'shows pictures as large as what they show': async (context, origin) => {
        const page = await context.newPage();
        await page.setViewportSize({ width: 1280, height: 800 });
        await page.goto(`${origin}/story.html`);
        const picture = page.locator('img[src*="story-light.png"]');
        const { width } = await picture.boundingBox();
        const column = await page.locator('.md-content__inner').evaluate((content) => content.clientWidth);
        assert.equal(Math.round(width), Math.min(1000, column));
        assert.match(await picture.locator('xpath=..').getAttribute('href'), /story-light\.png/);
        await page.close();
    },

    'starts the playground when it is asked to': async (context, origin) => {
        const page = await context.newPage();
        const loaded = [];
        page.on('request', (request) => loaded.push(request.url()));
        await page.goto(`${origin}/index.html`);
        assert.deepEqual(loaded.filter((url) => url.includes('/playground/')), [], 'it is large: who reads does not load it');
        await page.getByRole('button', { name: 'Start the playground' }).click();
        await page.locator('#tapelint-playground[data-state="checked"]').waitFor({ timeout: START });
        assert.ok((await page.locator('.pg-finding').count()) > 0);
        await page.close();
    },
});
