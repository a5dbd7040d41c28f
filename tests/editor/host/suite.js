// @ts-check
/**
 * Runs inside VS Code's extension host, beside the tapelint installed from its VSIX, with the API extensions have.
 * The tests run in order and build on each other: one editor, one document, as a user has it.
 */

const assert = require('node:assert/strict');
const path = require('node:path');
const vscode = require('vscode');
const cells = require('./cells.js');
const { finish } = require('./results.js');
const { until } = require('./wait.js');

/** @typedef {import('../../../client/src/extension').Api} Api */

/** @returns {Promise<Api>} */
async function tapelint() {
    const extension = vscode.extensions.getExtension('tapelint.tapelint');
    assert.ok(extension, 'the VSIX is installed');
    return await extension.activate();
}

async function ready() {
    const api = await tapelint();
    await until('status ready', () => api.state === 'ready');
    return api;
}

async function openTrain() {
    const folder = vscode.workspace.workspaceFolders?.[0];
    assert.ok(folder);
    const document = await vscode.workspace.openTextDocument(path.join(folder.uri.fsPath, 'train.py'));
    return vscode.window.showTextDocument(document);
}

/** @param {vscode.TextDocument} document @param {string} text */
function lineOf(document, text) {
    const line = document.getText().split('\n').findIndex((candidate) => candidate.includes(text));
    assert.notEqual(line, -1, text);
    return line;
}

/** @param {vscode.Uri} uri */
function findings(uri) {
    const shown = vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'tapelint');
    return shown.filter(({ message }) => !message.startsWith('PyTorch raises here.'));
}

/** @param {vscode.Uri} uri */
async function finding(uri) {
    await until('a diagnostic', () => findings(uri).length > 0);
    const found = findings(uri);
    assert.equal(found.length, 1, JSON.stringify(found));
    return /** @type {vscode.Diagnostic} */ (found[0]);
}

/** @param {vscode.Diagnostic} diagnostic */
function codeOf({ code }) {
    return typeof code === 'object' ? code.value : code;
}

/** @param {number} pid */
function isAlive(pid) {
    try {
        process.kill(pid, 0);
        return true;
    } catch {
        return false;
    }
}

const GHOST = `import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y += 1
y.sum().backward()
`;

/** What PyTorch prints for train.py, run elsewhere. */
const TRACEBACK = `Traceback (most recent call last):
  File "/home/me/train.py", line 46, in <module>
    train()
  File "/home/me/train.py", line 41, in train
    loss.backward()
RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed).
`;

/** @type {Record<string, () => Promise<void>>} */
const TESTS = {
    'opening a Python file starts the server': async () => {
        await openTrain();
        const { serverPid } = await ready();
        assert.ok(serverPid !== undefined && isAlive(serverPid));
    },

    'the backward that would raise is underlined, with its story': async () => {
        const { document } = await openTrain();
        const diagnostic = await finding(document.uri);
        assert.equal(codeOf(diagnostic), 'TL102');
        assert.equal(diagnostic.severity, vscode.DiagnosticSeverity.Error);
        assert.equal(diagnostic.range.start.line, lineOf(document, 'loss.backward()'));
        const story = diagnostic.relatedInformation ?? [];
        const lines = story.map(({ location }) => location.range.start.line);
        assert.ok(lines.includes(lineOf(document, 'torch.tanh(')), `the story names where h was built: ${lines}`);
        assert.ok(lines.includes(lineOf(document, 'seen[0].mean()')), `and where it was used again: ${lines}`);
    },

    'the status says how far the file was followed': async () => {
        await openTrain();
        const api = await ready();
        await until('the sentence', () => /^1 of 1 backward call followed · 1 finding · [\d.]+ s · version \d/.test(api.detail));
    },

    'the hover says what the line does and repeats nothing of the diagnostic beside it': async () => {
        const { document } = await openTrain();
        const { range, relatedInformation } = await finding(document.uri);
        const method = range.start.translate(0, 'loss.'.length);
        /** @type {vscode.Hover[]} */
        const hovers = await vscode.commands.executeCommand('vscode.executeHoverProvider', document.uri, method);
        const text = hovers.flatMap(({ contents }) => contents.map((content) => /** @type {any} */ (content).value)).join('\n');
        assert.match(text, /^\*\*`loss\.backward\(\)`\*\* · runs \d+ operations backward/);
        assert.doesNotMatch(text, /PyTorch raises|TL102|computes/);
        assert.ok(relatedInformation?.some(({ message }) => message.includes('`tanh` computes')));
    },

    'the preferred fix makes it go away': async () => {
        const { document } = await openTrain();
        const { range } = await finding(document.uri);
        /** @type {vscode.CodeAction[]} */
        const actions = await vscode.commands.executeCommand(
            'vscode.executeCodeActionProvider', document.uri, range, vscode.CodeActionKind.QuickFix.value, 20,
        );
        const preferred = actions.filter(({ isPreferred }) => isPreferred);
        assert.equal(preferred.length, 1, actions.map(({ title }) => title).join(' | '));
        const edit = preferred[0]?.edit;
        assert.ok(edit, 'the edit is there once the action is resolved');
        assert.ok(await vscode.workspace.applyEdit(edit));
        assert.match(document.getText(), /seen\.append\(h\.detach\(\)\)/);
        await until('no diagnostics', () => findings(document.uri).length === 0);
    },

    'undoing it brings the diagnostic back': async () => {
        const { document } = await openTrain();
        await vscode.commands.executeCommand('undo');
        assert.match(document.getText(), /seen\.append\(h\)/);
        await finding(document.uri);
    },

    'all fixes of a file are made by a command': async () => {
        const { document } = await openTrain();
        await finding(document.uri);
        await vscode.commands.executeCommand('tapelint.fixAllInFile');
        assert.match(document.getText(), /seen\.append\(h\.detach\(\)\)/);
        await until('no diagnostics', () => findings(document.uri).length === 0);
        await vscode.commands.executeCommand('undo');
        await finding(document.uri);
    },

    'files that the settings exclude are not checked': async () => {
        const { document } = await openTrain();
        await finding(document.uri);
        const settings = vscode.workspace.getConfiguration('tapelint');
        await settings.update('exclude', ['train.py'], vscode.ConfigurationTarget.Workspace);
        await until('no diagnostics', () => findings(document.uri).length === 0);
        await settings.update('exclude', undefined, vscode.ConfigurationTarget.Workspace);
        await finding(document.uri);
    },

    'the settings name a configuration, and what is wrong with one is shown in its file': async () => {
        const { document } = await openTrain();
        await finding(document.uri);
        const folder = vscode.workspace.workspaceFolders?.[0];
        assert.ok(folder);
        const uri = vscode.Uri.joinPath(folder.uri, 'own.toml');
        const write = (/** @type {string} */ text) => vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
        const settings = vscode.workspace.getConfiguration('tapelint');
        await write('ignore = ["TL102"]\n');
        await settings.update('configuration', 'own.toml', vscode.ConfigurationTarget.Workspace);
        await until('no diagnostics', () => findings(document.uri).length === 0);
        await write('\nselekt = ["TL1"]\n');
        const wrong = await until('what is wrong', () => vscode.languages.getDiagnostics(uri)[0]);
        assert.match(wrong.message, /unknown key 'selekt'/);
        assert.equal(wrong.range.start.line, 1);
        await finding(document.uri);
        await settings.update('configuration', undefined, vscode.ConfigurationTarget.Workspace);
        await until('nothing in it', () => vscode.languages.getDiagnostics(uri).length === 0);
        await vscode.workspace.fs.delete(uri);
        await finding(document.uri);
    },

    'a file that is closed, mended on disk or deleted shows nothing any more': async () => {
        const folder = vscode.workspace.workspaceFolders?.[0];
        assert.ok(folder);
        const uri = vscode.Uri.joinPath(folder.uri, 'ghost.py');
        const write = (/** @type {string} */ text) => vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
        await write(GHOST);
        await vscode.window.showTextDocument(uri);
        await finding(uri);
        await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
        await until('no diagnostics once it is closed', () => findings(uri).length === 0);
        await vscode.window.showTextDocument(uri);
        await finding(uri);
        await write(GHOST.replace('exp', 'clone'));
        await until('no diagnostics once it is mended', () => findings(uri).length === 0);
        await write(GHOST);
        await finding(uri);
        await vscode.workspace.fs.delete(uri);
        await vscode.commands.executeCommand('workbench.action.closeAllEditors');
        await until('no diagnostics once it is deleted', () => findings(uri).length === 0);
    },

    'the code of a diagnostic leads to the page of its rule': async () => {
        const { document } = await openTrain();
        const { code, range } = await finding(document.uri);
        assert.ok(typeof code === 'object' && code.target.scheme === 'tapelint-rule', JSON.stringify(code));
        const page = await vscode.workspace.openTextDocument(code.target);
        assert.match(page.getText(), /^# TL102 graph-carried-across-iterations\n/);
        /** @type {vscode.CodeAction[]} */
        const actions = await vscode.commands.executeCommand('vscode.executeCodeActionProvider', document.uri, range);
        const show = actions.find(({ title }) => title === 'Show documentation for TL102');
        assert.deepEqual(show?.command?.arguments, ['TL102']);
        await vscode.commands.executeCommand('tapelint.showRule', 'TL102');
        await until('the page', () => vscode.window.tabGroups.all.some(({ tabs }) => tabs.some(({ label }) => /TL102/.test(label))));
        await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    },

    'the graph of a finding opens beside it': async () => {
        const editor = await openTrain();
        const { range } = await finding(editor.document.uri);
        editor.selection = new vscode.Selection(range.start, range.start);
        await vscode.commands.executeCommand('tapelint.showGraph');
        const labels = () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ label }) => label));
        await until('the picture', () => labels().includes('Autograd graph'));
        await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    },

    'a traceback leads to the finding, pasted or from the clipboard': async () => {
        const { document } = await openTrain();
        const { range } = await finding(document.uri);
        const before = await vscode.env.clipboard.readText();
        for (const given of [TRACEBACK, undefined]) {
            await vscode.commands.executeCommand('workbench.action.closeAllEditors');
            await vscode.env.clipboard.writeText(given === undefined ? TRACEBACK : before);
            await vscode.commands.executeCommand('tapelint.explainError', given);
            const [shown] = vscode.window.visibleTextEditors.filter(({ document: { uri } }) => uri.scheme === 'file');
            assert.ok(shown, 'the file of the finding is shown');
            assert.deepEqual(shown.selection.start, range.start);
            const labels = () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ label }) => label));
            await until('the explanation', () => labels().includes('Explanation of an error'));
        }
        await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    },

    'the example of the walkthrough, which is no file, is checked too': async () => {
        await vscode.commands.executeCommand('tapelint.openExample');
        const document = vscode.window.activeTextEditor?.document;
        assert.ok(document && !document.isDirty);
        assert.equal(codeOf(await finding(document.uri)), 'TL102');
        await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    },

    'a killed server comes back and finds the same': async () => {
        const { document } = await openTrain();
        const before = await finding(document.uri);
        const { serverPid } = await ready();
        assert.ok(serverPid !== undefined);
        process.kill(serverPid, 'SIGKILL');
        const api = await tapelint();
        await until('another server', () => api.serverPid !== undefined && api.serverPid !== serverPid && api.state === 'ready');
        const after = await finding(document.uri);
        assert.equal(after.message, before.message);
    },

    'the restart command exchanges the process': async () => {
        const { serverPid } = await ready();
        assert.ok(serverPid !== undefined);
        await vscode.commands.executeCommand('tapelint.restart');
        const after = await ready();
        assert.notEqual(after.serverPid, serverPid);
        await until('the end of the old server', () => !isAlive(serverPid));
    },

    'an interpreter that is none is named, and the next good one is used': async () => {
        const settings = vscode.workspace.getConfiguration('tapelint');
        const api = await ready();
        await settings.update('interpreter', ['/nowhere/python3'], vscode.ConfigurationTarget.Global);
        await until('status error', () => api.state === 'error');
        assert.equal(api.serverPid, undefined);
        await settings.update('interpreter', undefined, vscode.ConfigurationTarget.Global);
        await ready();
    },

    'a server that ends while it starts is started again': async () => {
        const { document } = await openTrain();
        const api = await ready();
        const before = api.serverPid;
        void vscode.commands.executeCommand('tapelint.restart');
        await until('another server', () => api.serverPid !== undefined && api.serverPid !== before);
        const starting = /** @type {number} */ (api.serverPid);
        assert.equal(api.state, 'starting');
        process.kill(starting, 'SIGKILL');
        await until('a third one', () => api.serverPid !== undefined && api.serverPid !== starting && api.state === 'ready');
        await finding(document.uri);
    },

    'switched off, it is silent': async () => {
        const { document } = await openTrain();
        await finding(document.uri);
        const settings = vscode.workspace.getConfiguration('tapelint');
        await settings.update('enable', false, vscode.ConfigurationTarget.Global);
        await until('no diagnostics', () => findings(document.uri).length === 0);
        await settings.update('enable', undefined, vscode.ConfigurationTarget.Global);
        await finding(document.uri);
    },

    'lenses and inlay hints are shown once they are asked for': async () => {
        const { document } = await openTrain();
        await finding(document.uri);
        const whole = new vscode.Range(0, 0, document.lineCount, 0);
        /** @returns {Promise<string[]>} */
        const shown = async () => {
            /** @type {vscode.CodeLens[]} */
            const lenses = await vscode.commands.executeCommand('vscode.executeCodeLensProvider', document.uri, 20);
            /** @type {vscode.InlayHint[]} */
            const hints = await vscode.commands.executeCommand('vscode.executeInlayHintProvider', document.uri, whole);
            return [...lenses.map(({ command }) => command?.title ?? ''), ...hints.map(({ label }) => String(label))];
        };
        assert.deepEqual(await shown(), []);
        const settings = vscode.workspace.getConfiguration('tapelint');
        const names = ['codeLens.backward', 'codeLens.step', 'inlayHints.tensors', 'inlayHints.story'];
        for (const name of names) {
            await settings.update(name, true, vscode.ConfigurationTarget.Global);
        }
        const wanted = [/grad_fn=\w+Backward0/, /saved by|frees|freed/];
        try {
            await until('lenses and hints', async () => {
                const found = await shown();
                return wanted.every((words) => found.some((text) => words.test(text)));
            });
        } catch (error) {
            throw new Error(`${error}; there are ${JSON.stringify(await shown())}`);
        }
        for (const name of names) {
            await settings.update(name, undefined, vscode.ConfigurationTarget.Global);
        }
        await until('none', async () => (await shown()).length === 0);
    },

    'debug information can be read and copied, and nobody has to save it': async () => {
        await ready();
        await vscode.commands.executeCommand('tapelint.showDebugInformation');
        const document = vscode.window.activeTextEditor?.document;
        assert.match(document?.getText() ?? '', /"source": "PATH"/);
        assert.match(document?.getText() ?? '', /"pygls"/);
        assert.ok(document?.uri.scheme === 'tapelint-debug' && !document.isDirty && !document.isUntitled);
        await vscode.commands.executeCommand('tapelint.copyDebugInformation');
        assert.equal(await vscode.env.clipboard.readText(), document.getText());
        await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    },
};

exports.run = () => finish({ ...TESTS, ...cells.TESTS });
