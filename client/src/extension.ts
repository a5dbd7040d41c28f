/** Wires the parts together; nothing is decided here. */

import * as vscode from 'vscode';
import { CoverageOfDocuments } from './coverage';
import { DebugInformation } from './debug';
import { Example } from './example';
import { Explanations } from './explain';
import { FixAll } from './fix_all';
import { Graphs } from './graph';
import { NotebookFixes } from './notebook_fixes';
import { RulePages } from './rules';
import { Server } from './server';
import { SECTION } from './settings';
import { type State, Status } from './status';
import { Stories } from './story';
import { Tasks } from './tasks';

/** What `activate` hands to other extensions, and to the tests. */
export interface Api {
    readonly state: State;
    readonly serverPid: number | undefined;
    /** What the status item says. */
    readonly detail: string;
}

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): Api {
    const log = vscode.window.createOutputChannel('tapelint', { log: true });
    const status = new Status();
    const started = new Server(context.extensionPath, log, status);
    server = started;
    context.subscriptions.push(
        log,
        status,
        started,
        new DebugInformation(context.extension, started, status),
        new Example(context.extensionPath),
        new Explanations(started),
        new FixAll(started),
        new Graphs(started, context.extensionUri),
        new CoverageOfDocuments(started, status, String(context.extension.packageJSON.version)),
        new NotebookFixes(),
        new RulePages(started),
        new Stories(started),
        new Tasks(started),
        vscode.commands.registerCommand('tapelint.restart', () => started.restart()),
        vscode.commands.registerCommand('tapelint.showLog', () => log.show()),
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
        get detail() {
            return status.detail;
        },
    };
}

export async function deactivate(): Promise<void> {
    await server?.shutDown();
}
