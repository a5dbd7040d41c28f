/** Wires the parts together; nothing is decided here. */

import { join } from 'node:path';
import * as vscode from 'vscode';
import { showDebugInformation } from './debug';
import { Explanations } from './explain';
import { RulePages } from './rules';
import { Server } from './server';
import { SECTION } from './settings';
import { type State, Status } from './status';
import { Stories } from './story';

/** What `activate` hands to other extensions, and to the tests. */
export interface Api {
    readonly state: State;
    readonly serverPid: number | undefined;
}

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): Api {
    const log = vscode.window.createOutputChannel('tapelint', { log: true });
    const status = new Status();
    const started = new Server(context.extensionPath, log, status);
    server = started;
    const openExample = async () => {
        const example = vscode.Uri.file(join(context.extensionPath, 'client', 'walkthrough', 'example.py'));
        const content = new TextDecoder().decode(await vscode.workspace.fs.readFile(example));
        await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content, language: 'python' }));
    };
    context.subscriptions.push(
        log,
        status,
        started,
        new Explanations(started),
        new RulePages(started),
        new Stories(started),
        vscode.commands.registerCommand('tapelint.restart', () => started.restart()),
        vscode.commands.registerCommand('tapelint.showLog', () => log.show()),
        vscode.commands.registerCommand('tapelint.showDebugInformation', () => showDebugInformation(context, started, status)),
        vscode.commands.registerCommand('tapelint.openExample', openExample),
        vscode.workspace.onDidGrantWorkspaceTrust(() => void started.update()),
        vscode.workspace.onDidChangeWorkspaceFolders(() => void started.update()),
        vscode.workspace.onDidChangeConfiguration((change) => {
            if (change.affectsConfiguration(SECTION)) {
                void started.update();
            }
        }),
    );
    // Not awaited: finding Python may take seconds, and VS Code waits for no extension that long.
    void started.update();
    return {
        get state() {
            return status.state;
        },
        get serverPid() {
            return started.pid;
        },
    };
}

export async function deactivate(): Promise<void> {
    await server?.shutDown();
}
