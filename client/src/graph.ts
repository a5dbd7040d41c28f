/**
 * "Show the Autograd Graph": the picture of the finding or the expression at the cursor, beside the text. The server says what is in it,
 * `client/webview` draws it in the page; each box is a link to its line, and the same is told as a list.
 */

import * as vscode from 'vscode';
import { escaped, plain } from './html';
import type { Graph, Server } from './server';
import { messageOf } from './timeout';
import { webPage } from './web_page';

const ACTION = 'Show the autograd graph';
const COLOURS = `
body { box-sizing: border-box; height: 100vh; margin: 0; padding: 0.5em 1em; display: flex; flex-direction: column; gap: 0.5em; }
h3, p { margin: 0; } details { max-height: 45vh; overflow: auto; }
svg { display: block; max-width: none; margin: auto; font: 11px var(--vscode-editor-font-family, monospace); --ink: var(--vscode-editor-foreground); --paper: transparent;
  --line: var(--vscode-descriptionForeground); --lane: var(--vscode-sideBar-background);
  --box: var(--vscode-editorWidget-background); --bad: var(--vscode-editorError-foreground, #f14c4c); }
.vscode-high-contrast svg, .vscode-high-contrast-light svg {
  --lane: var(--vscode-editor-background); --line: var(--vscode-contrastBorder); }
button { padding: 0.1em 0.7em; cursor: pointer; border: 1px solid var(--vscode-button-border, var(--vscode-contrastBorder, transparent)); border-radius: 2px;
  font: inherit; color: var(--vscode-button-secondaryForeground); background: var(--vscode-button-secondaryBackground); }
button:hover { background: var(--vscode-button-secondaryHoverBackground); }
#drawing { flex: 1; min-height: 8em; overflow: auto; cursor: grab; touch-action: pan-x pan-y; font: 11px var(--vscode-editor-font-family, monospace); }
text { fill: var(--ink); } .first { font-weight: bold; } .label { font-size: 10px; fill: var(--line); }
.named { paint-order: stroke; stroke: var(--lane); stroke-width: 4px; }
.lane { fill: var(--lane); } .box { fill: var(--box); stroke: var(--line); } .perhaps { stroke-dasharray: 4 3; }
.edge { fill: none; stroke: var(--line); } .does { stroke-dasharray: 5 3; } .tip { fill: var(--line); } .bad-tip { fill: var(--bad); }
.hazard { stroke: var(--bad); stroke-width: 2.5; } .lit { stroke-width: 3; stroke-dasharray: none; }
g[data-place], g[data-fold] { cursor: pointer; } g[data-fold] rect { stroke-dasharray: 2 2; }
g:focus-visible, #drawing:focus-visible { outline: 2px solid var(--vscode-focusBorder); }
#old { display: none; padding: 0.5em; border: 1px solid var(--vscode-editorWarning-foreground, #cca700); }
#old.shown { display: block; }
.marked { font-weight: bold; color: var(--vscode-editorError-foreground, #f14c4c); }
`;
const BUTTONS = [
    ['larger', '+', 'Zoom in (+)'],
    ['smaller', '−', 'Zoom out (-)'],
    ['fit', 'Fit red boxes', 'Show what belongs to the hazard (0)'],
    ['whole', 'Fit all', 'Show the whole picture (1)'],
    ['all', 'Show all boxes', 'Boxes that do not belong to the hazard'],
].map(([id, text, title]) => `<button id="${id}" title="${title}">${text}</button>`).join(' ');

interface Drawn {
    readonly document: vscode.TextDocument;
    readonly position: vscode.Position;
    readonly graph: Graph;
}

export class Graphs implements vscode.CodeActionProvider, vscode.Disposable {
    private readonly registered: vscode.Disposable[];
    private readonly script: vscode.Uri;
    private panel: vscode.WebviewPanel | undefined;
    private drawn: Drawn | undefined;

    constructor(
        private readonly server: Server,
        extension: vscode.Uri,
    ) {
        this.script = vscode.Uri.joinPath(extension, 'dist', 'picture.js');
        this.registered = [
            vscode.commands.registerCommand('tapelint.showGraph', (at?: vscode.Position) => this.atCursor(at)),
            vscode.languages.registerCodeActionsProvider([{ language: 'python' }], this, {
                providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
            }),
            vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
                if (contentChanges.length > 0 && document === this.drawn?.document) {
                    void this.panel?.webview.postMessage({ old: true });
                }
            }),
        ];
    }

    dispose(): void {
        this.panel?.dispose();
        this.registered.forEach((each) => void each.dispose());
    }

    /** Offers the picture with each finding; the server has the lightbulb's other entries. */
    provideCodeActions(_document: vscode.TextDocument, _range: vscode.Range, { diagnostics }: vscode.CodeActionContext): vscode.CodeAction[] {
        const own = diagnostics.find(({ source, code }) => source === 'tapelint' && code !== undefined);
        if (own === undefined) {
            return [];
        }
        const action = new vscode.CodeAction(ACTION, vscode.CodeActionKind.QuickFix);
        action.command = { title: ACTION, command: 'tapelint.showGraph', arguments: [own.range.start] };
        return [action];
    }

    private async atCursor(at?: vscode.Position): Promise<void> {
        const editor = vscode.window.activeTextEditor;
        if (editor?.document.languageId === 'python') {
            await this.draw(editor.document, at ?? editor.selection.active);
        }
    }

    private async draw(document: vscode.TextDocument, position: vscode.Position): Promise<void> {
        let graph: Graph | undefined;
        try {
            graph = await this.server.graph(document.uri.toString(), position);
        } catch (error) {
            void vscode.window.showErrorMessage(`tapelint: ${messageOf(error)}`);
            return;
        }
        if (graph?.picture == null) {
            void vscode.window.showInformationMessage(`tapelint draws no graph: ${graph?.why ?? 'the server does not run'}`);
            return;
        }
        this.drawn = { document, position, graph };
        this.panel ??= this.open();
        this.panel.webview.html = page(graph, this.panel.webview.asWebviewUri(this.script));
        this.panel.reveal(undefined, true);
    }

    private open(): vscode.WebviewPanel {
        const beside = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
        const panel = vscode.window.createWebviewPanel('tapelint.graph', 'Autograd graph', beside, {
            enableScripts: true,
            localResourceRoots: [vscode.Uri.joinPath(this.script, '..')],
        });
        panel.onDidDispose(() => {
            this.panel = this.drawn = undefined;
        });
        panel.webview.onDidReceiveMessage(({ node, again }: { node?: number; again?: boolean }) => {
            const { drawn } = this;
            if (drawn !== undefined) {
                void (again === true ? this.draw(drawn.document, drawn.position) : show(drawn.graph, node));
            }
        });
        return panel;
    }
}

/** Goes to the place of a node. */
async function show(graph: Graph, node: number | undefined): Promise<void> {
    const place = graph.picture?.nodes.find(({ number }) => number === node)?.place;
    if (place) {
        const { line, character } = place.range.start;
        const selection = new vscode.Range(line, character, line, character);
        const viewColumn = vscode.window.visibleTextEditors.at(0)?.viewColumn ?? vscode.ViewColumn.One;
        await vscode.window.showTextDocument(vscode.Uri.parse(place.uri), { selection, viewColumn });
    }
}

function page({ picture }: Graph, script: vscode.Uri): string {
    const data = JSON.stringify(picture).replaceAll('<', '\\u003c');
    const title = picture?.title ?? '';
    return webPage(title, COLOURS, (nonce) => `<p id="old" role="status">The text has changed since this was drawn. <button id="again">Draw again</button></p>
<h3>${escaped(plain(title))}</h3>
<div role="toolbar" aria-label="The picture">${BUTTONS}</div>
<div id="drawing" tabindex="0" role="region" aria-label="The picture; arrow keys move it, + and - zoom, 0 fits the red boxes, 1 fits all"></div>
<details><summary>The same as a list</summary>${list(picture)}</details>
<script type="application/json" id="picture">${data}</script>
<script nonce="${nonce}" src="${script.toString()}"></script>`);
}

function list(picture: Graph['picture']): string {
    const columns = picture?.columns.map((title, column) => {
        const entries = picture.nodes.filter((node) => node.column === column).map(({ number, title, details, place, marked }) => {
            const words = escaped(plain([title, ...details].join(', ')));
            const text = place === null ? words : `<a href="#" data-place="${number}">${words}</a>`;
            return `<li${marked ? ' class="marked"' : ''}>${text}</li>`;
        });
        return `<h4>${escaped(plain(title))}</h4><ul>${entries.join('')}</ul>`;
    });
    return [...(columns ?? []), ...(picture?.notes ?? []).map((note) => `<p>${escaped(note)}</p>`)].join('');
}
