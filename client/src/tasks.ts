/**
 * The task "tapelint: check": `tapelint check` over a folder of the workspace, run by the Python and the tapelint that serve
 * the editor. The problem matcher `$tapelint` makes problems of what it prints, and of what one's own tasks print.
 */

import * as vscode from 'vscode';
import type { Server } from './server';

const TYPE = 'tapelint';

export class Tasks implements vscode.TaskProvider, vscode.Disposable {
    private readonly registered = vscode.tasks.registerTaskProvider(TYPE, this);

    constructor(private readonly server: Server) {}

    dispose(): void {
        this.registered.dispose();
    }

    provideTasks(): vscode.Task[] {
        const folders = vscode.workspace.workspaceFolders ?? [];
        return folders.flatMap((folder) => this.task(folder, { type: TYPE }) ?? []);
    }

    resolveTask({ scope, definition }: vscode.Task): vscode.Task | undefined {
        const folder = typeof scope === 'object' ? scope : vscode.workspace.workspaceFolders?.[0];
        return folder === undefined ? undefined : this.task(folder, definition);
    }

    /** The task for a folder; undefined while no server runs. */
    private task(folder: vscode.WorkspaceFolder, definition: vscode.TaskDefinition): vscode.Task | undefined {
        const command = this.server.command;
        if (command === undefined) {
            return undefined;
        }
        const paths = Array.isArray(definition['paths']) ? definition['paths'].map(String) : ['.'];
        const launch = command.arguments.slice(0, command.arguments.indexOf('server'));
        const words = [...launch, 'check', '--output-format', 'concise', '--', ...paths];
        const execution = new vscode.ProcessExecution(command.program, words, { cwd: folder.uri.fsPath });
        return new vscode.Task(definition, folder, 'check', 'tapelint', execution, '$tapelint');
    }
}
