/** Uses the playground of the built site as a visitor would, with a pointer and with keys: `make docs-test`. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from './site.mjs';

const EXAMPLES = JSON.parse(readFileSync('build/playground/examples.json', 'utf8'));
const RESIDUAL = EXAMPLES.findIndex(({ title }) => title === 'A residual after the activation');
/** Printed by PyTorch 2.13 for that example; only the folders are others. */
const TRACEBACK = readFileSync('tests/site/traceback.txt', 'utf8');
/** Milliseconds for the first answer, which waits for Python to start, and for others. */
const START = 120_000;
const PATIENCE = 20_000;
const TYPED = `import torch

w = torch.ones(3, requires_grad=True)
y = w.exp()
y += 1
y.sum().backward()
`;

/** One page for all: Python starts once. */
let page;

const status = () => page.locator('.pg-status');
const findings = () => page.locator('.pg-finding');
const names = () => findings().locator('.pg-rule a').allTextContents();
const text = () => page.locator('.cm-content').evaluate((content) => content.cmTile?.view.state.doc.toString() ?? content.innerText);

/** Waits until all that is shown is about the text as it is. */
async function checked(timeout = PATIENCE) {
    await page.locator('#tapelint-playground[data-state="checked"]').waitFor({ timeout });
}

async function choose(index) {
    await page.getByLabel('Example').selectOption({ value: String(index) });
    await checked();
}

async function write(program) {
    await page.getByLabel('Program', { exact: true }).focus();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText(program);
    await checked();
}

await test({
    'says that it loads, then checks the first example': async (context, origin) => {
        page = await context.newPage();
        await page.goto(`${origin}/playground.html`);
        await page.getByText('Loading Python').waitFor();
        await checked(START);
        assert.match(await status().textContent(), /^1 finding, in/);
    },

    'opens with its first squiggle in view': async () => {
        const squiggle = await page.locator('.cm-lintRange').first().boundingBox();
        const { height } = page.viewportSize();
        assert.ok(squiggle !== null && squiggle.y > 0 && squiggle.y + squiggle.height < height, JSON.stringify(squiggle));
    },

    'finds in each example what tapelint finds elsewhere': async () => {
        for (const [index, { title, rules }] of EXAMPLES.entries()) {
            await choose(index);
            const found = (await names()).map((name) => name.split(' ')[1]);
            assert.deepEqual(found.sort(), rules, title);
        }
    },

    'checks what is typed, and draws a squiggle': async () => {
        await write(TYPED);
        assert.deepEqual(await names(), ['TL201 saved-tensor-modified']);
        assert.equal(await page.locator('.cm-lintRange-error').first().textContent(), 'y += 1');
        await write(TYPED.replace('y += 1', 'y = y + 1'));
        assert.deepEqual(await names(), []);
        assert.equal(await page.locator('.cm-lintRange-error').count(), 0);
    },

    'has an example again after it was edited': async () => {
        await choose(RESIDUAL);
        await write(TYPED);
        assert.equal(await page.getByLabel('Example').evaluate((list) => list.selectedOptions[0].text), 'Your own program');
        await choose(RESIDUAL);
        assert.equal((await text()).trimEnd(), EXAMPLES[RESIDUAL].text.trimEnd());
    },

    'leads from a step of the story to its place': async () => {
        await write(TYPED);
        await page.locator('.pg-step', { hasText: 'line 4' }).click();
        assert.equal(await page.locator('.pg-pointed').textContent(), 'w.exp()');
        assert.match(await status().textContent(), /^line 4: y = w\.exp\(\)/);
    },

    'counts as JavaScript does where letters are no single units': async () => {
        await write(TYPED.replace('y += 1', 's = "😀"; y += 1'));
        assert.equal(await page.locator('.cm-lintRange-error').first().textContent(), 'y += 1');
    },

    'applies a cure, after which there is no finding': async () => {
        await choose(RESIDUAL);
        const cure = page.locator('.pg-cure').first();
        await cure.getByRole('button').click();
        await checked();
        assert.match(await text(), /out = out \+ identity/);
        assert.deepEqual(await names(), []);
        await page.keyboard.press('ControlOrMeta+z');
        await checked();
        assert.deepEqual(await names(), ['TL201 saved-tensor-modified']);
    },

    'tells of the tensor under the pointer, and at the cursor': async () => {
        await write(TYPED);
        await page.locator('.cm-line', { hasText: 'y = w.exp()' }).hover({ position: { x: 12, y: 8 } });
        await page.locator('.cm-tooltip').getByText('grad_fn').first().waitFor();
        await page.getByLabel('Program', { exact: true }).focus();
        await page.keyboard.press('ControlOrMeta+Home');
        for (const key of ['ArrowDown', 'ArrowDown', 'ControlOrMeta+i']) {
            await page.keyboard.press(key);
        }
        await page.locator('.pg-here').getByText('leaf').first().waitFor();
    },

    'draws the graph of a finding': async () => {
        await write(TYPED);
        await findings().first().getByRole('button', { name: 'Draw the graph' }).click();
        const graph = page.locator('.pg-graph svg');
        await graph.waitFor();
        assert.match(await graph.textContent(), /ExpBackward0/);
    },

    'leads from a box of the graph to its line, by key and by pointer': async () => {
        const graph = page.getByRole('region', { name: 'Graph' });
        const drawing = graph.getByRole('group', { name: /y \+= 1|Writes/ });
        assert.equal(await drawing.count(), 1);
        const box = graph.getByRole('link', { name: /^ExpBackward0 .*line 4$/ });
        await box.focus();
        await page.keyboard.press('Enter');
        assert.match(await page.locator('.pg-pointed').textContent(), /w\.exp\(\)/);
        await graph.getByRole('link', { name: /^in-place write .*line 5$/ }).click();
        assert.equal(await page.locator('.pg-pointed').textContent(), 'y += 1');
        assert.match(await status().textContent(), /^line 5: y \+= 1/);
    },

    'lists the findings by a key, for a screen reader': async () => {
        await page.getByLabel('Program', { exact: true }).focus();
        await page.keyboard.press('ControlOrMeta+Shift+M');
        const list = page.getByRole('listbox', { name: 'Findings' });
        await list.getByRole('option', { name: /Writes .* in place/ }).waitFor();
        await page.keyboard.press('Escape');
    },

    'says that Python has died, starts it again and checks the program': async () => {
        const python = page.workers().find((worker) => worker.url().endsWith('/playground/worker.js'));
        await python.evaluate(() => {
            setTimeout(() => {
                throw new Error('out of memory');
            });
        });
        await page.getByText(/tapelint stopped \(.*out of memory\) and is started again/).waitFor({ timeout: PATIENCE });
        await checked(START);
        assert.match(await status().textContent(), /^1 finding, in/);
        await page.locator('.pg-cure').first().waitFor({ timeout: PATIENCE });
    },

    'explains a traceback of the program': async () => {
        await choose(RESIDUAL);
        await page.getByLabel(/traceback/).fill(TRACEBACK);
        await page.getByRole('button', { name: 'Explain' }).click();
        const cause = page.locator('.pg-cause');
        await cause.getByText('predicted at a line of the traceback').waitFor();
        assert.match(await cause.textContent(), /modified by an inplace operation.*\(line \d+\)/);
        await cause.getByRole('button').click();
        assert(await findings().first().evaluate((finding) => finding === document.activeElement));
    },

    'goes on when a program has syntax errors, and says so': async () => {
        await write(`${TYPED}\nif True print(\n`);
        assert.match(await page.locator('.pg-notice').first().textContent(), /syntax/i);
        assert.deepEqual(await names(), ['TL201 saved-tensor-modified']);
    },

    'opens the program of a link': async (context, origin) => {
        await write(TYPED);
        await page.getByRole('button', { name: 'Copy a link' }).click();
        await page.getByText('The link is').waitFor();
        const link = await page.evaluate(() => location.href);
        assert(link.startsWith(`${origin}/playground.html#program=`), link);
        await page.close();
        page = await context.newPage();
        await page.goto(link);
        await checked(START);
        assert.equal((await text()).trimEnd(), TYPED.trimEnd());
        assert.deepEqual(await names(), ['TL201 saved-tensor-modified']);
    },
});
