/** Findings of files that are not open, in a workspace that asks for them. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Editor } from './editor.mjs';
import { runSuite } from './suite.mjs';

const FUNCTION = `    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    y += 1
    y.sum().backward()
`;
const TRAIN = `import torch


def one():
${FUNCTION}

def two():
${FUNCTION}

def leaf():
    w = torch.ones(3, requires_grad=True)
    w *= 2
`;
const NETWORK = `import torch


class Network(torch.nn.Module):
    def forward(self, x):
        return x * 2
`;

/** Whether all is as it should be. */
export async function testClosed(browser, program) {
    const workspace = mkdtempSync(join(tmpdir(), 'tapelint-closed-'));
    writeFileSync(join(workspace, 'train.py'), TRAIN);
    writeFileSync(join(workspace, 'network.py'), NETWORK);
    mkdirSync(join(workspace, '.vscode'));
    writeFileSync(join(workspace, '.vscode', 'settings.json'), JSON.stringify({ 'tapelint.diagnosticMode': 'workspace' }));
    const editor = await Editor.start({ ...program, workspace });
    try {
        return await runSuite(browser, editor, 'closed.js');
    } finally {
        await editor.stop();
        rmSync(workspace, { recursive: true });
    }
}
