/**
 * "tapelint: Explain a PyTorch Error": from a traceback to the finding that predicts it.
 *
 * The text comes from the clipboard, from the selection in a terminal, or from a click on the error in a terminal. The
 * answer opens beside the place it is about, as a page: what is wrong, a button for each cure, the steps as links.
 */

import * as vscode from 'vscode';
import type { Explanation } from './connection';
import { type Action, pageOf } from './explanation_page';
import { goTo } from './places';
import type { Server } from './server';
import { messageOf } from './timeout';

/** How an exception looks at the end of a traceback. What PyTorch says of autograd is left to the server to know. */
const RAISED = /(?:^|[\s:\]])((?:[A-Za-z_]\w*\.)*[A-Z]\w*Error): \S.*/;

/** An error in a terminal, as a link. */
interface ErrorLink extends vscode.TerminalLink {
    readonly terminal: vscode.Terminal;
    readonly error: string;
}

export class Explanations implements vscode.TerminalLinkProvider<ErrorLink>, vscode.Disposable {
    private readonly registered: vscode.Disposable[];
    private panel: vscode.WebviewPanel | undefined;
    /** What its links and buttons do. */
    private actions: readonly Action[] = [];

    constructor(private readonly server: Server) {
        this.registered = [
            vscode.window.registerTerminalLinkProvider(this),
            vscode.commands.registerCommand('tapelint.explainError', (text?: unknown) => this.ask(text)),
        ];
    }

    dispose(): void {
        this.panel?.dispose();
        this.registered.forEach((each) => void each.dispose());
    }

    provideTerminalLinks({ line, terminal }: vscode.TerminalLinkContext): ErrorLink[] {
        const found = RAISED.exec(line);
        if (found?.[1] === undefined) {
            return [];
        }
        const startIndex = found.index + found[0].indexOf(found[1]);
        const tooltip = 'tapelint: Explain this error';
        return [{ startIndex, length: line.length - startIndex, tooltip, terminal, error: line.slice(startIndex).trim() }];
    }

    async handleTerminalLink({ terminal, error }: ErrorLink): Promise<void> {
        await this.explain(upTo(await contents(terminal), error));
    }

    /** The command: `text` comes from other extensions; else there is the clipboard, and a box to paste into. */
    private async ask(text: unknown): Promise<void> {
        const known = typeof text === 'string' && text.trim() !== '' ? text : await vscode.env.clipboard.readText();
        if (known.split('\n').some((line) => RAISED.test(line))) {
            await this.explain(known);
            return;
        }
        const prompt = "Paste PyTorch's error message, or copy a whole traceback before you run this command";
        const typed = await vscode.window.showInputBox({ prompt, ignoreFocusOut: true });
        if (typed !== undefined && typed.trim() !== '') {
            await this.explain(typed);
        }
    }

    private async explain(traceback: string): Promise<void> {
        const title = 'tapelint: looking for the cause';
        const progress = { location: vscode.ProgressLocation.Window, title };
        const file = activeProgram();
        try {
            await vscode.window.withProgress(progress, async () => {
                let answer = await this.server.explain(traceback);
                if (answer !== undefined && answer.location === null && file !== undefined) {
                    answer = await this.server.explain(traceback, file.toString());
                }
                await this.show(answer);
            });
        } catch (error) {
            void vscode.window.showErrorMessage(`tapelint: ${messageOf(error)}`);
        }
    }

    private async show(answer: Explanation | undefined): Promise<void> {
        if (answer === undefined) {
            void vscode.window.showWarningMessage('tapelint: the server is not running', 'Restart').then((chosen) => {
                void (chosen === undefined ? undefined : this.server.restart());
            });
            return;
        }
        if (answer.page === null) {
            void vscode.window.showInformationMessage(`tapelint: ${answer.text}`);
            return;
        }
        const stays = answer.location !== null;
        if (answer.location !== null) {
            await goTo(answer.location, true);
        }
        const viewColumn = stays ? vscode.ViewColumn.Beside : vscode.ViewColumn.Active;
        this.panel ??= this.open({ viewColumn, preserveFocus: stays });
        const { html, actions } = pageOf(answer.page);
        this.actions = actions;
        this.panel.webview.html = html;
        this.panel.reveal(undefined, stays);
    }

    private open(where: { viewColumn: vscode.ViewColumn; preserveFocus: boolean }): vscode.WebviewPanel {
        const panel = vscode.window.createWebviewPanel('tapelint.explanation', 'Explanation of an error', where, { enableScripts: true });
        panel.onDidDispose(() => {
            this.panel = undefined;
        });
        panel.webview.onDidReceiveMessage(({ action }: { action: number }) => void this.act(this.actions[action]));
        return panel;
    }

    /** Does what a link or a button of the page says. */
    private async act(action: Action | undefined): Promise<void> {
        try {
            switch (action?.kind) {
                case 'rule':
                    await vscode.commands.executeCommand('tapelint.showRule', action.code);
                    break;
                case 'place':
                    await goTo(action.place, true);
                    break;
                case 'lightbulb':
                    await goTo(action.place, true);
                    await vscode.commands.executeCommand('editor.action.quickFix');
                    break;
                case 'cure':
                    if (await this.server.run(action.command)) {
                        await this.panel?.webview.postMessage({ said: `Done: ${action.command.title}` });
                    }
            }
        } catch (error) {
            void vscode.window.showErrorMessage(`tapelint: ${messageOf(error)}`);
        }
    }
}

/** The notebook or the Python file that the user is in: a cell's traceback names no file, a copied message none at all. */
function activeProgram(): vscode.Uri | undefined {
    const document = vscode.window.activeTextEditor?.document;
    const file = document?.languageId === 'python' ? document.uri : undefined;
    const active = vscode.window.activeNotebookEditor?.notebook.uri ?? file;
    return active?.scheme === 'file' ? active : undefined;
}

/** What a terminal shows. VS Code gives it to extensions by the clipboard alone, which is put back. */
async function contents(terminal: vscode.Terminal): Promise<string> {
    const before = await vscode.env.clipboard.readText();
    terminal.show(true);
    try {
        await vscode.commands.executeCommand('workbench.action.terminal.selectAll');
        await vscode.commands.executeCommand('workbench.action.terminal.copySelection');
        return await vscode.env.clipboard.readText();
    } finally {
        await vscode.commands.executeCommand('workbench.action.terminal.clearSelection');
        await vscode.env.clipboard.writeText(before);
    }
}

/** The last part of a terminal's text that ends with `error`, from the end of the exception before it on. */
function upTo(text: string, error: string): string {
    const rows = text.split(/\r?\n/);
    const last = rows.findLastIndex((row) => row.includes(error) || isBeginning(row, error));
    const before = rows.slice(0, Math.max(0, last)).findLastIndex((row) => RAISED.test(row));
    return last < 0 ? error : [...rows.slice(before + 1, last), error].join('\n');
}

/** Whether a row has the beginning of `error`, which the terminal has wrapped. */
function isBeginning(row: string, error: string): boolean {
    const found = RAISED.exec(row);
    return found !== null && error.startsWith(found[0].trim());
}
