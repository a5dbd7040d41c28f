/** Places that the server names: in files, and in the cells of notebooks. */

import * as vscode from 'vscode';
import type { Middleware } from 'vscode-languageclient/node';

interface Position {
    readonly line: number;
    readonly character: number;
}

export interface Place {
    readonly uri: string;
    readonly range: { readonly start: Position; readonly end: Position };
}

export function isIn(place: Place, document: vscode.TextDocument): boolean {
    return vscode.Uri.parse(place.uri).toString() === document.uri.toString();
}

export function rangeOf({ range: { start, end } }: Place): vscode.Range {
    return new vscode.Range(start.line, start.character, end.line, end.character);
}

/** Puts the cursor on a place, in whatever editor or cell of a notebook it is; a file that `stays` open has a tab of its own. */
export async function goTo(place: Place, stays = false): Promise<void> {
    const { start } = rangeOf(place);
    const notebook = vscode.workspace.notebookDocuments.find((each) => each.getCells().some((cell) => isIn(place, cell.document)));
    if (notebook !== undefined) {
        const index = notebook.getCells().findIndex((cell) => isIn(place, cell.document));
        await vscode.window.showNotebookDocument(notebook, { selections: [new vscode.NotebookRange(index, index + 1)] });
        await vscode.commands.executeCommand('notebook.cell.edit');
        const editor = vscode.window.visibleTextEditors.find(({ document }) => isIn(place, document));
        if (editor !== undefined) {
            editor.selection = new vscode.Selection(start, start);
        }
        return;
    }
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(place.uri));
    // Beside a page that is in front, not over it.
    const { activeTextEditor, visibleTextEditors } = vscode.window;
    const viewColumn = (activeTextEditor ?? visibleTextEditors.at(0))?.viewColumn ?? vscode.ViewColumn.Active;
    const editor = await vscode.window.showTextDocument(document, { preview: !stays, viewColumn });
    editor.selection = new vscode.Selection(start, start);
    editor.revealRange(rangeOf(place), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

/** What the server asks to show stands beside a page that is in front, not over it, whichever of the two has the focus. */
export const besidePages: Middleware = {
    window: {
        showDocument: async (params, token, next) => {
            if (params.external === true || params.selection === undefined) {
                return next(params, token);
            }
            const place = { uri: params.uri, range: params.selection };
            await goTo(place, true);
            const editor = vscode.window.visibleTextEditors.find(({ document }) => isIn(place, document));
            if (editor !== undefined) {
                const { start, end } = rangeOf(place);
                editor.selection = new vscode.Selection(start, end);
            }
            return { success: true };
        },
    },
};
