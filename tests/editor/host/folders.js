// @ts-check
/** Runs inside VS Code's extension host: a workspace of three folders, each with settings of its own. See folders.mjs. */

const assert = require('node:assert/strict');
const path = require('node:path');
const vscode = require('vscode');
const { finish } = require('./results.js');
const { until } = require('./wait.js');

/** @param {string} name */
function folder(name) {
    const found = vscode.workspace.workspaceFolders?.find((each) => each.name === name);
    assert.ok(found, name);
    return found;
}

/** @param {string} where @param {string} name */
async function open(where, name) {
    const document = await vscode.workspace.openTextDocument(path.join(folder(where).uri.fsPath, name));
    await vscode.window.showTextDocument(document, { preview: false });
    return document.uri;
}

/** @param {vscode.Uri} uri */
function findings(uri) {
    const shown = vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'tapelint');
    return shown.filter(({ message }) => !message.startsWith('PyTorch raises here.'));
}

/** @param {vscode.Uri} uri @param {vscode.DiagnosticSeverity} [severity] */
async function finding(uri, severity) {
    return await until(`a finding of severity ${severity} in ${uri.fsPath}`, () => {
        const [found] = findings(uri);
        return found !== undefined && (severity === undefined || found.severity === severity) && found;
    });
}

const { Error, Warning, Hint } = vscode.DiagnosticSeverity;

/** @type {Record<string, () => Promise<void>>} */
const TESTS = {
    'each folder of a workspace has its own settings': async () => {
        await finding(await open('plain', 'twice.py'), Error);
        await finding(await open('graver', 'twice.py'), Warning);
        const silent = await open('silent', 'twice.py');
        // Another finding of that file shows that it was checked.
        const found = await finding(silent);
        assert.deepEqual(findings(silent).map(({ code }) => typeof code === 'object' && code.value), ['TL301']);
        assert.equal(found.severity, Error);
    },

    'a setting of one folder changes that folder only': async () => {
        const [plain, graver] = [await open('plain', 'twice.py'), await open('graver', 'twice.py')];
        const settings = vscode.workspace.getConfiguration('tapelint', folder('graver').uri);
        await settings.update('severities', { TL101: 'hint' }, vscode.ConfigurationTarget.WorkspaceFolder);
        await finding(graver, Hint);
        await finding(plain, Error);
    },

    'a folder that leaves the workspace takes its settings along': async () => {
        const { index } = folder('silent');
        const uri = await open('silent', 'twice.py');
        await until('one finding', () => findings(uri).length === 1);
        assert.ok(vscode.workspace.updateWorkspaceFolders(index, 1));
        await until('two folders', () => vscode.workspace.workspaceFolders?.length === 2);
        await until('what the folder has silenced', () => findings(uri).length === 2);
    },

    'the steps of a story lead to other files': async () => {
        const uri = await open('plain', 'main.py');
        const { relatedInformation } = await finding(uri);
        const steps = (relatedInformation ?? []).map(({ location: { uri, range } }) => [path.basename(uri.fsPath), range.start.line + 1]);
        assert.ok(steps.some(([name, line]) => name === 'net.py' && line === 2), JSON.stringify(steps));
        assert.ok(steps.some(([name, line]) => name === 'main.py' && line === 5), JSON.stringify(steps));
    },

    'the task checks a folder, and its findings in closed files are problems': async () => {
        const closed = vscode.Uri.file(path.join(folder('plain').uri.fsPath, 'closed.py'));
        assert.deepEqual(vscode.languages.getDiagnostics(closed), []);
        const tasks = await vscode.tasks.fetchTasks({ type: 'tapelint' });
        const task = tasks.find(({ scope }) => typeof scope === 'object' && scope.name === 'plain');
        assert.ok(task, tasks.map(({ name }) => name).join());
        /** @type {Promise<number | undefined>} */
        const ended = new Promise((resolve) => {
            const listening = vscode.tasks.onDidEndTaskProcess(({ execution, exitCode }) => {
                if (execution.task.name === task.name) {
                    listening.dispose();
                    resolve(exitCode);
                }
            });
        });
        await vscode.tasks.executeTask(task);
        assert.equal(await ended, 1);
        const found = await until('a problem', () => vscode.languages.getDiagnostics(closed)[0]);
        assert.equal(found.code, 'TL101');
        assert.equal(found.range.start.line, 3);
        assert.match(found.message, /^`x\.backward\(\)` needs the graph of `x`/);
    },

    'fixes can be tried on the example, and nobody is asked to save it': async () => {
        await vscode.commands.executeCommand('workbench.action.closeAllEditors');
        await vscode.commands.executeCommand('tapelint.openExample');
        const document = vscode.window.activeTextEditor?.document;
        assert.ok(document && !document.isUntitled && document.uri.path === '/example.py');
        const { code, range } = await finding(document.uri);
        assert.equal(typeof code === 'object' && code.value, 'TL102');
        /** @type {vscode.CodeAction[]} */
        const actions = await vscode.commands.executeCommand(
            'vscode.executeCodeActionProvider', document.uri, range, vscode.CodeActionKind.QuickFix.value, 20,
        );
        const edit = actions.find(({ isPreferred }) => isPreferred)?.edit;
        assert.ok(edit && await vscode.workspace.applyEdit(edit));
        await until('no findings', () => findings(document.uri).length === 0);
        await until('it is saved', () => !document.isDirty);
        await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
        await until('it is closed', () => vscode.window.activeTextEditor === undefined);
    },
};

exports.run = () => finish(TESTS);
