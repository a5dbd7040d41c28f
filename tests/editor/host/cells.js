// @ts-check
/** A notebook in VS Code, and what is faded; part of suite.js. */

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');
const { until } = require('./wait.js');

const CELLS = [
    'import torch\n\nx = torch.ones(3, requires_grad=True)',
    'y = x.exp()\ny += 1\nz = x.exp()\nz += 1',
    'y.sum().backward()\nz.sum().backward()',
];
const FIXED = 'y = x.exp()\ny = y + 1\nz = x.exp()\nz = z + 1';
const UNUSED = 'import torch\n\nx = torch.ones(3, requires_grad=True)\nx.sum().backward()  # tapelint: ignore[TL201]\n';

/** @param {string} name @param {string} text */
function written(name, text) {
    const folder = vscode.workspace.workspaceFolders?.[0];
    assert.ok(folder);
    const file = path.join(folder.uri.fsPath, name);
    fs.writeFileSync(file, text);
    return vscode.Uri.file(file);
}

/** @type {vscode.NotebookDocument | undefined} */
let opened;

/** The study, opened once: its second cell writes in place what the third needs. */
async function study() {
    if (opened) {
        return opened;
    }
    const cells = CELLS.map((source, number) => (
        { cell_type: 'code', execution_count: null, id: `c${number}`, metadata: {}, outputs: [], source }
    ));
    const metadata = { language_info: { name: 'python' } };
    const uri = written('study.ipynb', JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 5 }));
    const book = await vscode.workspace.openNotebookDocument(uri);
    await vscode.window.showNotebookDocument(book);
    opened = book;
    return book;
}

/** @param {vscode.NotebookDocument} book @returns {vscode.TextDocument[]} */
function texts(book) {
    return book.getCells().map(({ document }) => document);
}

/** @param {vscode.TextDocument} document */
function findings(document) {
    return vscode.languages.getDiagnostics(document.uri).filter(({ source, severity }) => source === 'tapelint' && severity === 0);
}

exports.TESTS = {
    'a finding of a notebook is in its cell, and its steps in the others': async () => {
        const [first, second, third] = texts(await study());
        assert.ok(first && second && third);
        await until('a finding in the second cell', () => findings(second).length > 0);
        assert.deepEqual([findings(first).length, findings(third).length], [0, 0]);
        const [{ code, range, relatedInformation } = assert.fail()] = findings(second);
        assert.deepEqual([typeof code === 'object' && code.value, range.start.line], ['TL201', 1]);
        const cells = (relatedInformation ?? []).map(({ location }) => location.uri.toString());
        assert.ok(cells.includes(third.uri.toString()), cells.join());
    },

    'its fix is made in that cell': async () => {
        const [, second, third] = texts(await study());
        assert.ok(second && third);
        const [{ range } = assert.fail()] = findings(second);
        /** @type {vscode.CodeAction[]} */
        const actions = await vscode.commands.executeCommand(
            'vscode.executeCodeActionProvider', second.uri, range, vscode.CodeActionKind.QuickFix.value, 20,
        );
        const edit = actions.find(({ isPreferred }) => isPreferred)?.edit;
        assert.ok(edit && await vscode.workspace.applyEdit(edit), actions.map(({ title }) => title).join(' | '));
        assert.match(second.getText(), /^y = x\.exp\(\)\ny = y \+ 1\n/);
        assert.equal(third.getText(), CELLS[2]);
        await until('the second write', () => findings(second)[0]?.range.start.line === 3).catch((error) => {
            throw new Error(`${error}; there is ${JSON.stringify(vscode.languages.getDiagnostics(second.uri))}`);
        });
    },

    'saving a notebook makes all fixes, where that is wanted': async () => {
        const book = await study();
        const [, second] = texts(book);
        assert.ok(second);
        await until('a finding', () => findings(second).length > 0);
        const settings = vscode.workspace.getConfiguration('notebook');
        const wanted = { 'notebook.source.fixAll.tapelint': 'explicit' };
        await settings.update('codeActionsOnSave', wanted, vscode.ConfigurationTarget.Global);
        const edit = new vscode.WorkspaceEdit();
        edit.insert(second.uri, new vscode.Position(0, 0), '\n');
        await vscode.workspace.applyEdit(edit);
        await vscode.commands.executeCommand('notebook.cell.quitEdit');
        await vscode.commands.executeCommand('workbench.action.files.save');
        await until('the fixes', () => second.getText().trim() === FIXED);
        await until('no findings', () => findings(second).length === 0);
        await settings.update('codeActionsOnSave', undefined, vscode.ConfigurationTarget.Global);
        await until('the saved file', () => fs.readFileSync(book.uri.fsPath, 'utf8').includes('z = z + 1'));
        await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    },

    'a comment that silences nothing is faded': async () => {
        const document = await vscode.workspace.openTextDocument(written('unused.py', UNUSED));
        await vscode.window.showTextDocument(document);
        const faded = await until('a faded place', () => vscode.languages.getDiagnostics(document.uri).find(({ tags }) => (
            tags?.includes(vscode.DiagnosticTag.Unnecessary)
        )));
        assert.equal(typeof faded.code === 'object' && faded.code.value, 'TL901');
        assert.equal(document.getText(faded.range), '# tapelint: ignore[TL201]');
        await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    },
};
