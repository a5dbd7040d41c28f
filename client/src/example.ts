/**
 * "tapelint: Open Example": a program with a bug, in the memory of the editor. Fixes can be tried on it, nothing of it is
 * kept, and nobody is asked to save it.
 */

import { join } from 'node:path';
import * as vscode from 'vscode';

export const SCHEME = 'tapelint-example';
const PLACE = vscode.Uri.from({ scheme: SCHEME, path: '/example.py' });

export class Example implements vscode.FileSystemProvider, vscode.Disposable {
    private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
    private readonly registered: vscode.Disposable[];
    private content: Uint8Array | undefined;
    private time = 0;
    readonly onDidChangeFile = this.changed.event;

    constructor(private readonly extension: string) {
        this.registered = [
            this.changed,
            vscode.workspace.registerFileSystemProvider(SCHEME, this),
            vscode.commands.registerCommand('tapelint.openExample', () => this.open()),
            vscode.workspace.onDidChangeTextDocument(({ document }) => {
                void (document.uri.scheme === SCHEME && document.isDirty ? document.save() : undefined);
            }),
        ];
    }

    dispose(): void {
        this.registered.forEach((each) => void each.dispose());
    }

    watch(): vscode.Disposable {
        return { dispose: () => {} };
    }

    async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
        const { length } = await this.readFile(uri);
        return { type: vscode.FileType.File, ctime: 0, mtime: this.time, size: length };
    }

    async readFile(uri: vscode.Uri): Promise<Uint8Array> {
        refuseOther(uri);
        const original = join(this.extension, 'client', 'walkthrough', 'example.py');
        return (this.content ??= await vscode.workspace.fs.readFile(vscode.Uri.file(original)));
    }

    writeFile(uri: vscode.Uri, content: Uint8Array): void {
        refuseOther(uri);
        this.content = content;
        this.time++;
        this.changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
    }

    readDirectory(): [string, vscode.FileType][] {
        return [['example.py', vscode.FileType.File]];
    }

    createDirectory(uri: vscode.Uri): void {
        throw vscode.FileSystemError.NoPermissions(uri);
    }

    delete(uri: vscode.Uri): void {
        throw vscode.FileSystemError.NoPermissions(uri);
    }

    rename(uri: vscode.Uri): void {
        throw vscode.FileSystemError.NoPermissions(uri);
    }

    private async open(): Promise<void> {
        await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(PLACE));
    }
}

function refuseOther(uri: vscode.Uri): void {
    if (uri.path !== PLACE.path) {
        throw vscode.FileSystemError.FileNotFound(uri);
    }
}
