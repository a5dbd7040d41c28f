/**
 * A workspace that names a program of its own as the interpreter gets it run once it is trusted, and not before. In
 * restricted mode tapelint works all the same, with a Python from outside the workspace.
 */

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Editor } from './editor.mjs';

const PROGRAM = `import torch
x = torch.ones(3, requires_grad=True)
y = x.exp().sum()
y.backward()
y.backward()
`;
const INTERPRETER = `#!/bin/sh
touch "$(dirname "$0")/was-run"
exec python3 "$@"
`;

export async function testTrust(browser, program) {
    for (const trusted of [true, false]) {
        const workspace = makeWorkspace();
        const editor = await Editor.start({ ...program, workspace, trusted });
        try {
            const page = await browser.newPage();
            await page.goto(editor.url([['openFile', join(editor.workspace, 'twice.py')]]));
            await page.locator('.squiggly-error').first().waitFor({ timeout: 60_000 });
            await page.close();
            assert.equal(existsSync(join(editor.workspace, 'bin', 'was-run')), trusted);
            console.log(`ok     ${trusted ? 'a trusted' : 'an untrusted'} workspace's interpreter is ${trusted ? '' : 'not '}run`);
        } finally {
            await editor.stop();
            rmSync(workspace, { recursive: true });
        }
    }
}

function makeWorkspace() {
    const folder = mkdtempSync(join(tmpdir(), 'tapelint-trust-'));
    mkdirSync(join(folder, '.vscode'));
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'twice.py'), PROGRAM);
    writeFileSync(join(folder, 'bin', 'python3'), INTERPRETER);
    chmodSync(join(folder, 'bin', 'python3'), 0o755);
    const settings = { 'tapelint.interpreter': ['${workspaceFolder}/bin/python3'] };
    writeFileSync(join(folder, '.vscode', 'settings.json'), JSON.stringify(settings));
    return folder;
}
