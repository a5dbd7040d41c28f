/**
 * "tapelint: Show Debug Information": what a bug report needs, as a document that the user can read before sharing it.
 * Nobody is asked to save it; a button in its title copies it.
 */

import * as vscode from 'vscode';
import type { Server } from './server';
import { SECTION } from './settings';
import type { Status } from './status';
import { messageOf } from './timeout';

const PLACE = vscode.Uri.from({ scheme: 'tapelint-debug', path: '/tapelint debug information' });

export class DebugInformation implements vscode.TextDocumentContentProvider, vscode.Disposable {
    private readonly changed = new vscode.EventEmitter<vscode.Uri>();
    private readonly registered: vscode.Disposable[];
    readonly onDidChange = this.changed.event;

    constructor(
        private readonly extension: vscode.Extension<unknown>,
        private readonly server: Server,
        private readonly status: Status,
    ) {
        this.registered = [
            this.changed,
            vscode.workspace.registerTextDocumentContentProvider(PLACE.scheme, this),
            vscode.commands.registerCommand('tapelint.showDebugInformation', () => this.show()),
            vscode.commands.registerCommand('tapelint.copyDebugInformation', () => this.copy()),
        ];
    }

    dispose(): void {
        this.registered.forEach((each) => void each.dispose());
    }

    async provideTextDocumentContent(): Promise<string> {
        const { server, status } = this;
        const client = {
            extension: (this.extension.packageJSON as { version: string }).version,
            folder: this.extension.extensionPath,
            editor: `${vscode.env.appName} ${vscode.version}, ${process.platform} ${process.arch}`,
            trusted: vscode.workspace.isTrusted,
            state: status.state,
            process: server.pid,
            interpreter: server.interpreter,
            command: server.command,
            settings: vscode.workspace.getConfiguration(SECTION),
        };
        const answer = await server.debugInformation().catch(messageOf);
        const text = typeof answer === 'string' ? answer : JSON.stringify(answer ?? 'not running', undefined, 2);
        return `tapelint: client\n\n${JSON.stringify(client, undefined, 2)}\n\ntapelint: server\n\n${text}\n`;
    }

    private async show(): Promise<void> {
        this.changed.fire(PLACE);
        await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(PLACE), { preview: true });
    }

    private async copy(): Promise<void> {
        const shown = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === PLACE.scheme);
        await vscode.env.clipboard.writeText(shown?.getText() ?? (await this.provideTextDocumentContent()));
        vscode.window.setStatusBarMessage('tapelint: the debug information is in the clipboard', 5_000);
    }
}
