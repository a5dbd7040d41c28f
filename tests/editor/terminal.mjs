/**
 * From PyTorch's error to its cure in two actions, as someone does it who has the traceback and nothing else: a click on the error in
 * the terminal shows the finding and says what it rests on; there the first entry of the lightbulb cures it.
 */

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Editor } from './editor.mjs';
import { setTheme, THEMES } from './pictures.mjs';

/** What PyTorch 2.13 prints for train.py. */
const TRACEBACK = `Traceback (most recent call last):
  File "/home/me/train.py", line 45, in <module>
    train()
  File "/home/me/train.py", line 40, in train
    loss.backward()
  File "/home/me/.venv/lib/python3.11/site-packages/torch/_tensor.py", line 623, in backward
    torch.autograd.backward(
  File "/home/me/.venv/lib/python3.11/site-packages/torch/autograd/__init__.py", line 395, in backward
    _engine_run_backward(
  File "/home/me/.venv/lib/python3.11/site-packages/torch/autograd/graph.py", line 979, in _engine_run_backward
    return Variable._execution_engine.run_backward(  # Calls into the C++ engine to run the backward pass
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors after calling backward.
`;
/** The line of train.py at which it raises. */
const RAISES = 40;
const PATIENCE = 60_000;
/** For pictures: a Python with PyTorch, which runs the program. */
const { TAPELINT_EDITOR_TORCH: TORCH } = process.env;

export async function testTerminal(browser, program, pictures) {
    const workspace = mkdtempSync(join(tmpdir(), 'tapelint-terminal-'));
    cpSync(program.workspace, workspace, { recursive: true });
    if (!TORCH) {
        writeFileSync(join(workspace, 'traceback.txt'), TRACEBACK);
    }
    writeFileSync(join(workspace, 'pyproject.toml'), ''); // by which VS Code knows Python here, where there is no ripgrep
    const editor = await Editor.start({ ...program, workspace });
    try {
        // What a terminal shows reaches an extension by the clipboard, which a browser gives to those with permission.
        const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'], deviceScaleFactor: 1.5 });
        const page = await context.newPage();
        page.setDefaultTimeout(PATIENCE);
        await page.setViewportSize({ width: 1000, height: 1000 }); // so that the line is drawn
        // No file is open, but for the pictures: the extension has to be there all the same.
        await page.goto(editor.url(pictures ? [['openFile', join(editor.workspace, 'train.py')]] : []));
        await page.locator(pictures ? '.squiggly-error' : '.explorer-viewlet .monaco-list-row').first().waitFor();
        await page.setViewportSize({ width: 1000, height: 720 });
        await page.keyboard.press('Control+B');
        await raise(page);
        const take = async (what, theme = 'light') => {
            if (pictures) {
                await page.waitForTimeout(1500);
                await page.screenshot({ path: join(pictures, `${what}-${theme}.png`) });
            }
        };

        const line = page.locator('.xterm-rows > div', { hasText: 'RuntimeError: Trying' }).first();
        const box = await line.boundingBox();
        const at = [box.x + 60, box.y + box.height / 2];
        await page.mouse.move(...at);
        await page.keyboard.down('Control');
        await page.mouse.move(at[0] + 5, at[1]);
        if (pictures) {
            await page.waitForTimeout(800);
            await take('traceback');
        }
        await clickLink(page, at[0] + 10, at[1], explanation(page).locator('h2'));
        await page.keyboard.up('Control');
        await page.locator('.squiggly-error').first().waitFor();
        console.log("ok     a click on PyTorch's error in a terminal explains it");

        await offered(page);
        for (const [name, [theme, kind]] of Object.entries(pictures ? THEMES : {})) {
            await page.keyboard.press('Escape');
            setTheme(editor, theme);
            await page.locator(`.monaco-workbench.${kind}`).waitFor();
            await offered(page);
            await take('cure', name);
        }
        const file = join(editor.workspace, 'train.py');
        const text = readFileSync(file, 'utf8');
        writeFileSync(file, `# new\n${text}`);
        await atLine(page, RAISES + 1);
        await page.keyboard.press('Enter');
        await page.locator('.notifications-toasts .notification-list-item', { hasText: 'The text has changed since' }).waitFor();
        await page.waitForTimeout(1000);
        assert.equal(readFileSync(file, 'utf8'), `# new\n${text}`);
        assert.equal(await page.locator('.view-line', { hasText: 'detach()' }).count(), 0);
        console.log('ok     a fix for a text that has changed since is refused, and that is said');
        writeFileSync(file, text);
        await atLine(page, RAISES);
        await page.locator('.squiggly-error').first().waitFor();
        await offered(page);
        await page.keyboard.press('Enter');
        await page.locator('.view-line', { hasText: 'seen.append(h.detach())' }).first().waitFor();
        await page.locator('.squiggly-error').first().waitFor({ state: 'detached' });
        console.log('ok     there the first entry of the lightbulb cures it');
        await context.close();
    } finally {
        await editor.stop();
        rmSync(workspace, { recursive: true });
    }
}

/** The page that explains an error. */
export function explanation(page) {
    return page.frameLocator('iframe.webview').frameLocator('iframe#active-frame');
}

/** Opens the menu of the lightbulb until it has the cure: VS Code drops the answer if it loads another extension meanwhile. */
async function offered(page) {
    await page.locator('.squiggly-error').first().waitFor();
    await insist(async () => {
        await page.keyboard.press('Escape');
        await page.keyboard.press('Control+.');
    }, page.locator('.action-widget .monaco-list-row', { hasText: 'detach' }).first());
}

/** Waits until the cursor is in a line: it stays with its text when lines are put above. */
async function atLine(page, line) {
    await page.locator('.editor-instance .line-numbers.active-line-number', { hasText: String(line) }).first().waitFor();
}

/**
 * Clicks, with Control held down, on a place in the terminal until `opened` is there. VS Code asks for links while the
 * mouse rests on a line, and nothing in its page says reliably that it has one. What it was told of a line it keeps until
 * the mouse leaves: at first that may be from before the extension has answered.
 */
export async function clickLink(page, x, y, opened) {
    await insist(async () => {
        await page.mouse.move(x, y - 80);
        await page.mouse.move(x, y);
        await page.waitForTimeout(800);
        await page.mouse.click(x, y);
    }, opened);
}

/** Acts until what it should bring is there, six times at most. */
async function insist(act, brought) {
    for (let attempt = 1; ; attempt++) {
        await act();
        try {
            await brought.waitFor({ timeout: 10_000 });
            return;
        } catch (error) {
            if (attempt === 6) {
                throw error;
            }
        }
    }
}

/** Opens a terminal in which the program has raised. VS Code shows its files before it listens to all of its keys. */
export async function raise(page) {
    await insist(() => page.keyboard.press('Control+Shift+Backquote'), page.locator('.terminal-wrapper .xterm').first());
    await page.waitForTimeout(3000);
    if (TORCH) {
        await page.keyboard.type(`PS1='$ '; python() { ${TORCH} "$@"; }; clear\n`, { delay: 10 });
        await page.waitForTimeout(500);
    }
    await page.keyboard.type(TORCH ? 'python train.py\n' : "PS1='$ '; clear; cat traceback.txt\n", { delay: 30 });
    await page.locator('.xterm-rows > div', { hasText: 'RuntimeError: Trying' }).first().waitFor();
    await page.waitForTimeout(1000);
}
