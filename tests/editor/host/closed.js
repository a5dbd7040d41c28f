// @ts-check
/**
 * Files that train and are not open, in VS Code: their findings, and all fixes of one rule. The tests run in order and
 * build on each other, as those of suite.js.
 */

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');
const { finish } = require('./results.js');
const { until } = require('./wait.js');

const ONE = 'def NAME():\n    x = torch.ones(3, requires_grad=True)\n    y = x.exp()\n    y += 1\n    y.sum().backward()\n\n\n';
const LEAF = 'def leaf():\n    w = torch.ones(3, requires_grad=True)\n    w *= 2\n';
/** Two findings of TL201, and one of TL203. */
const BAD = `import torch\n\n\n${ONE.replace('NAME', 'one')}${ONE.replace('NAME', 'two')}${LEAF}`;
const GOOD = BAD.replaceAll('y += 1', 'y = y + 1');
const ALL = ['TL201', 'TL201', 'TL203'];

/** @param {string} name */
function uriOf(name) {
    const folder = vscode.workspace.workspaceFolders?.[0];
    assert.ok(folder);
    return vscode.Uri.file(path.join(folder.uri.fsPath, name));
}

/** @param {vscode.Uri} uri */
function findings(uri) {
    const shown = vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'tapelint');
    return shown.filter(({ message }) => !message.startsWith('PyTorch raises here.'));
}

/** @param {vscode.Uri} uri */
function codes(uri) {
    return findings(uri).map(({ code }) => (typeof code === 'object' ? code.value : code)).sort();
}

/** @param {vscode.Uri} uri @param {string[]} wanted */
async function shows(uri, wanted) {
    try {
        await until('findings', () => JSON.stringify(codes(uri)) === JSON.stringify(wanted));
    } catch (error) {
        throw new Error(`${error}; there are ${JSON.stringify(codes(uri))}`);
    }
}

/** @type {Record<string, () => Promise<void>>} */
const TESTS = {
    'a file that trains shows its findings while it is closed': async () => {
        await vscode.window.showTextDocument(uriOf('network.py'));
        await shows(uriOf('train.py'), ALL);
        assert.ok(vscode.workspace.textDocuments.every(({ fileName }) => !fileName.endsWith('train.py')));
        const [first] = findings(uriOf('train.py'));
        assert.ok(typeof first?.code === 'object' && first.code.target.scheme === 'tapelint-rule', 'its code is a link');
        assert.ok(first.relatedInformation?.length);
    },

    'it is checked again when it changes on disk': async () => {
        fs.writeFileSync(uriOf('train.py').fsPath, GOOD);
        await shows(uriOf('train.py'), ['TL203']);
        fs.writeFileSync(uriOf('train.py').fsPath, BAD);
        await shows(uriOf('train.py'), ALL);
    },

    'all findings of one rule are fixed at once': async () => {
        const document = await vscode.workspace.openTextDocument(uriOf('train.py'));
        await vscode.window.showTextDocument(document);
        await until('its own findings', () => findings(document.uri).every(({ range }) => range.start.line > 0));
        const first = findings(document.uri).find(({ range }) => range.start.line === 6);
        assert.ok(first, JSON.stringify(findings(document.uri)));
        /** @type {vscode.CodeAction | undefined} */
        const action = await until('the action', async () => {
            /** @type {vscode.CodeAction[]} */
            const actions = await vscode.commands.executeCommand(
                'vscode.executeCodeActionProvider', document.uri, first.range, vscode.CodeActionKind.QuickFix.value, 20,
            );
            return actions.find(({ title }) => title === 'Fix all TL201 in this file');
        });
        assert.ok(action?.edit, 'the edit is there once the action is resolved');
        assert.ok(await vscode.workspace.applyEdit(action.edit));
        assert.equal(document.getText(), GOOD);
        await shows(document.uri, ['TL203']);
    },

    'once it is closed what is on disk counts again': async () => {
        await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
        await shows(uriOf('train.py'), ALL);
    },

    'the setting switches it off': async () => {
        await vscode.workspace.getConfiguration('tapelint').update('diagnosticMode', 'openFilesOnly');
        await shows(uriOf('train.py'), []);
    },
};

exports.run = () => finish(TESTS);
