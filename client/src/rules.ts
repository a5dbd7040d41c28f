/**
 * The pages of the rules, in the editor itself: the code of a diagnostic is a link to one, and the lightbulb offers it.
 * The server has them all, so that no address is needed.
 */

import * as vscode from 'vscode';
import type { Middleware } from 'vscode-languageclient/node';
import type { Server } from './server';

const SCHEME = 'tapelint-rule';
const SOURCE = 'tapelint';

/** Where the page of a rule is. */
function pageOf(code: string): vscode.Uri {
    return vscode.Uri.from({ scheme: SCHEME, path: `/${code}.md` });
}

/** Makes the codes of diagnostics links, unless they have an address already. */
function link(diagnostics: readonly vscode.Diagnostic[]): void {
    for (const diagnostic of diagnostics) {
        if (typeof diagnostic.code === 'string' && diagnostic.code.startsWith('TL')) {
            diagnostic.code = { value: diagnostic.code, target: pageOf(diagnostic.code) };
        }
    }
}

export const linkingRules: Middleware = {
    handleDiagnostics: (uri, diagnostics, next) => {
        link(diagnostics);
        next(uri, diagnostics);
    },
    provideDiagnostics: async (document, previous, token, next) => {
        const report = await next(document, previous, token);
        if (report !== null && report !== undefined && 'items' in report) {
            link(report.items);
        }
        return report;
    },
    provideWorkspaceDiagnostics: (known, token, report, next) => next(known, token, (part) => {
        for (const each of part?.items ?? []) {
            if ('items' in each) {
                link(each.items);
            }
        }
        report(part);
    }),
};

export class RulePages implements vscode.TextDocumentContentProvider, vscode.CodeActionProvider, vscode.Disposable {
    private readonly registered: vscode.Disposable[];

    constructor(private readonly server: Server) {
        const selector = [{ language: 'python' }];
        const kinds = { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] };
        this.registered = [
            vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
            vscode.languages.registerCodeActionsProvider(selector, this, kinds),
            vscode.commands.registerCommand('tapelint.showRule', (code?: unknown) => this.show(code)),
        ];
    }

    dispose(): void {
        this.registered.forEach((each) => void each.dispose());
    }

    async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
        const code = uri.path.replace(/^\/|\.md$/g, '');
        return (await this.server.rulePage(code)) ?? `No page for ${code}: the server of tapelint is not running, or knows no such rule.\n`;
    }

    provideCodeActions(_document: vscode.TextDocument, _range: vscode.Range, context: vscode.CodeActionContext): vscode.CodeAction[] {
        const own = context.diagnostics.filter(({ source }) => source === SOURCE);
        const codes = new Set(own.map(({ code }) => String(typeof code === 'object' ? code.value : code)));
        return [...codes].filter((code) => code.startsWith('TL')).map((code) => {
            const title = `Show documentation for ${code}`;
            const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
            action.command = { title, command: 'tapelint.showRule', arguments: [code] };
            return action;
        });
    }

    /** The command: without a code the user chooses one. */
    private async show(code: unknown): Promise<void> {
        const chosen = typeof code === 'string' && code !== '' ? code : await this.choose();
        if (chosen !== undefined) {
            await vscode.commands.executeCommand('markdown.showPreview', pageOf(chosen));
        }
    }

    private async choose(): Promise<string | undefined> {
        const list = (await this.server.rulePage('')) ?? '';
        const items = [...list.matchAll(/^- `(\w+)` ([\w-]+): (.*)$/gm)].map(([, label, description, detail]) => ({
            label: label ?? '', description: description ?? '', detail: detail ?? '',
        }));
        return (await vscode.window.showQuickPick(items, { matchOnDescription: true, matchOnDetail: true }))?.label;
    }
}
