/** "tapelint: Show Debug Information": what a bug report needs, as a document the user can read before sharing it. */

import * as vscode from 'vscode';
import type { Server } from './server';
import { SECTION } from './settings';
import type { Status } from './status';
import { messageOf } from './timeout';

export async function showDebugInformation(context: vscode.ExtensionContext, server: Server, status: Status): Promise<void> {
    const client = {
        extension: (context.extension.packageJSON as { version: string }).version,
        folder: context.extensionPath,
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
    const content = `tapelint: client\n\n${JSON.stringify(client, undefined, 2)}\n\ntapelint: server\n\n${text}\n`;
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content, language: 'plaintext' }));
}
