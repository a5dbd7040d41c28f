/** "tapelint: Fix All in This File": the safe fixes of the file or notebook in front, until none is left. */

import * as vscode from 'vscode';
import type { Server } from './server';
import { messageOf } from './timeout';

export class FixAll implements vscode.Disposable {
    private readonly registered = vscode.commands.registerCommand('tapelint.fixAllInFile', () => this.fix());

    constructor(private readonly server: Server) {}

    dispose(): void {
        this.registered.dispose();
    }

    private async fix(): Promise<void> {
        const uri = vscode.window.activeNotebookEditor?.notebook.uri ?? vscode.window.activeTextEditor?.document.uri;
        try {
            const made = uri && (await this.server.fixAll(uri.toString()));
            if (made) {
                vscode.window.setStatusBarMessage(`tapelint: ${made} ${made === 1 ? 'fix' : 'fixes'} made`, 5_000);
            }
        } catch (error) {
            void vscode.window.showErrorMessage(`tapelint: ${messageOf(error)}`);
        }
    }
}
