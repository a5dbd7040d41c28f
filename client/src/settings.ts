/** The settings the client itself acts on; the server asks for the others (`select`, `ignore`) over the protocol. */

import { homedir } from 'node:os';
import * as vscode from 'vscode';

export interface Settings {
    readonly enable: boolean;
    readonly interpreters: readonly string[];
    readonly importStrategy: 'useBundled' | 'fromEnvironment';
    readonly notifications: 'off' | 'onError' | 'onWarning';
}

export const SECTION = 'tapelint';

export function readSettings(): Settings {
    const section = vscode.workspace.getConfiguration(SECTION);
    return {
        enable: section.get('enable', true),
        interpreters: section.get<string[]>('interpreter', []).map(expand),
        importStrategy: section.get('importStrategy', 'useBundled'),
        notifications: section.get('showNotifications', 'onWarning'),
    };
}

function expand(path: string): string {
    const workspace = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
    return path.replace('${workspaceFolder}', () => workspace).replace(/^~(?=[/\\])/, () => homedir());
}
