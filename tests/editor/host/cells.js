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
const TRACEBACK = `RuntimeError                              Traceback (most recent call last)
Cell In[3], line 1
----> 1 y.sum().backward()
      2 z.sum().backward()

RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [torch.FloatTensor [3]], which is output 0 of ExpBackward0, is at version 1; expected version 0 instead.
`;
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
    opened ??= await openedBook('study.ipynb', []);
    return opened;
}

/** @param {string} name @param {object[]} above the cells before those of the study */
async function openedBook(name, above) {
    const code = CELLS.map((source, number) => (
        { cell_type: 'code', execution_count: null, id: `c${number}`, metadata: {}, outputs: [], source }
    ));
    const metadata = { language_info: { name: 'python' } };
    const cells = [...above, ...code];
    const uri = written(name, JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 5 }));
    const book = await vscode.workspace.openNotebookDocument(uri);
    await vscode.window.showNotebookDocument(book);
    return book;
}

/**
 * Saves a notebook until all fixes are made in a cell of it. VS Code drops the answers to a request for actions if any
 * extension begins to offer some meanwhile, as those do that VS Code loads when it first sees JSON or Markdown.
 * @param {vscode.TextDocument} cell
 */
async function fixedOnSaving(cell) {
    let tries = 0;
    await until('the fixes', async () => {
        if (tries++ % 30 === 0) {
            const edit = new vscode.WorkspaceEdit();
            edit.insert(cell.uri, new vscode.Position(0, 0), '\n');
            await vscode.workspace.applyEdit(edit);
            await vscode.commands.executeCommand('notebook.cell.quitEdit');
            await vscode.commands.executeCommand('workbench.action.files.save');
        }
        return cell.getText().trim() === FIXED;
    });
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

    'the traceback of a cell leads into the notebook': async () => {
        const book = await study();
        const [, second] = texts(book);
        assert.ok(second);
        await vscode.window.showNotebookDocument(book);
        await vscode.commands.executeCommand('tapelint.explainError', TRACEBACK);
        const uri = second.uri.toString();
        const selected = () => vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri)?.selection;
        await until('the cursor in the second cell', () => selected()?.start.line === 1);
        const labels = () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ label }) => label));
        await until('the explanation', () => labels().includes('Explanation of an error'));
        await vscode.window.showNotebookDocument(book);
        await vscode.commands.executeCommand('workbench.action.closeEditorsInOtherGroups');
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
        await fixedOnSaving(second);
        await until('no findings', () => findings(second).length === 0);
        await until('the saved file', () => fs.readFileSync(book.uri.fsPath, 'utf8').includes('z = z + 1'));
        await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    },

    'one that begins with text, or with an empty cell, too': async () => {
        const text = { cell_type: 'markdown', id: 't', metadata: {}, source: '# A study' };
        const empty = { cell_type: 'code', execution_count: null, id: 'e', metadata: {}, outputs: [], source: '' };
        for (const [name, above] of Object.entries({ 'empty.ipynb': [empty], 'told.ipynb': [text, empty] })) {
            const cell = texts(await openedBook(name, above)).find((document) => document.getText() === CELLS[1]);
            assert.ok(cell);
            await until('a finding', () => findings(cell).length > 0);
            await fixedOnSaving(cell);
            await vscode.commands.executeCommand('workbench.action.closeAllEditors');
        }
        const settings = vscode.workspace.getConfiguration('notebook');
        await settings.update('codeActionsOnSave', undefined, vscode.ConfigurationTarget.Global);
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
