/**
 * What the silence about a document is worth: the status item says how many calls of `backward` were followed, and a
 * click on it lists them, with what the analysis lacked for the others.
 */

import * as vscode from 'vscode';
import type { Place } from './places';
import { type Coverage, type Server } from './server';
import type { Status } from './status';
import { messageOf } from './timeout';

/** An entry of the list; it leads to a place, or runs a command. */
interface Entry extends vscode.QuickPickItem {
    readonly place?: Place | null;
    readonly command?: string;
}

const PAUSE = 300;
const ICONS: Record<string, string> = { followed: '$(pass)', 'unknown graph': '$(question)', 'not reached': '$(circle-slash)' };
const OTHERS: readonly Entry[] = [
    { label: '', kind: vscode.QuickPickItemKind.Separator },
    { label: '$(output) Show log', command: 'tapelint.showLog' },
    { label: '$(info) Show debug information', command: 'tapelint.showDebugInformation' },
    { label: '$(debug-restart) Restart server', command: 'tapelint.restart' },
];

export class CoverageOfDocuments implements vscode.Disposable {
    private readonly registered: vscode.Disposable[];
    private timer: NodeJS.Timeout | undefined;
    private asked = 0;

    constructor(
        private readonly server: Server,
        private readonly status: Status,
        private readonly version: string,
    ) {
        this.registered = [
            status.onReady(() => this.soon()),
            vscode.window.onDidChangeActiveTextEditor(() => this.soon()),
            vscode.commands.registerCommand('tapelint.showCoverage', () => this.list()),
        ];
    }

    dispose(): void {
        clearTimeout(this.timer);
        this.registered.forEach((each) => void each.dispose());
    }

    private soon(): void {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => void this.tell(), PAUSE);
    }

    /** Puts the sentence about the document in front into the status item. */
    private async tell(): Promise<void> {
        const document = vscode.window.activeTextEditor?.document;
        const number = ++this.asked;
        if (document?.languageId !== 'python' || this.status.state !== 'ready') {
            return;
        }
        // A document that has changed meanwhile, or a server that ended, is told of anew.
        const found = await this.server.coverage(document.uri.toString(), false).catch(() => undefined);
        if (number === this.asked && found !== undefined) {
            this.status.about(found === null ? '' : sentence(found, this.version));
        }
    }

    /** The calls of `backward` in the document in front; the chosen one is shown where its cause is. */
    private async list(): Promise<void> {
        const document = vscode.window.activeTextEditor?.document;
        let found: Coverage | null | undefined;
        try {
            found = document && (await this.server.coverage(document.uri.toString(), true));
        } catch (error) {
            void vscode.window.showErrorMessage(`tapelint: ${messageOf(error)}`);
            return;
        }
        const entries = found ? [...calls(found), ...notices(found), ...OTHERS] : OTHERS.slice(1);
        const placeHolder = found?.sentence || 'Nothing goes backward here';
        const chosen = await vscode.window.showQuickPick(entries, { placeHolder, matchOnDetail: true });
        if (chosen?.command !== undefined) {
            await vscode.commands.executeCommand(chosen.command);
        } else if (chosen?.place) {
            const { start, end } = chosen.place.range;
            const selection = new vscode.Range(start.line, start.character, end.line, end.character);
            await vscode.window.showTextDocument(vscode.Uri.parse(chosen.place.uri), { selection });
        }
    }
}

function sentence(found: Coverage, version: string): string {
    const findings = `${found.findings} ${found.findings === 1 ? 'finding' : 'findings'}`;
    const parts = [found.sentence, findings, `${found.seconds.toFixed(2)} s`, `version ${version}`];
    return parts.filter((part) => part !== '').join(' · ');
}

function calls(found: Coverage): Entry[] {
    return found.calls.map(({ code, location, following, cause }) => {
        const line = location === null ? '' : `line ${location.range.start.line + 1}: `;
        const why = cause === null ? {} : { detail: [cause.message, cause.help].filter(Boolean).join('. ') };
        const label = `${ICONS[following] ?? ''} ${code}`;
        return { label, description: `${line}${following}`, place: cause?.location ?? location, ...why };
    });
}

function notices(found: Coverage): Entry[] {
    return found.notices.map((message) => ({ label: `$(warning) ${message}` }));
}
