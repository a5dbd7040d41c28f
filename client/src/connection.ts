/** The language client over one server process, made to leave its faults to us instead of popping them up. */

import type { ChildProcess } from 'node:child_process';
import * as vscode from 'vscode';
import { CloseAction, ErrorAction, LanguageClient, type LanguageClientOptions, State } from 'vscode-languageclient/node';
import { SCHEME as EXAMPLE } from './example';
import { besidePages, type Place } from './places';
import { tellingRefusals } from './refused';
import { linkingRules } from './rules';
import { SECTION } from './settings';
import type { Status } from './status';
import { type Story, withoutHighlights } from './story';
import { within } from './timeout';

const START_TIME = 60_000;
const STOP_TIME = 2_000;
const BROKEN_MESSAGES = 3;

interface StatusParams {
    readonly state: 'ready' | 'busy' | 'error';
    readonly message?: string;
}

/** A line, as readers see it: `location` is null in a notebook that is not open. */
export interface Line {
    readonly name: string;
    readonly code: string;
    readonly location: Place | null;
}

/** A command of the server's. */
export interface Command {
    readonly title: string;
    readonly command: string;
    readonly arguments: readonly unknown[];
}

/** What the server says of an error; see its `tapelint.explain`. */
export interface Explanation {
    readonly text: string;
    readonly location: Place | null;
    readonly page: {
        readonly error: string;
        readonly raised: Line | null;
        readonly remarks: readonly string[];
        readonly findings: readonly {
            readonly code: string;
            readonly name: string;
            readonly severity: string;
            readonly message: string;
            readonly place: Line;
            readonly needs: string;
            readonly help: string | null;
            readonly steps: readonly { readonly message: string; readonly place: Line }[];
            readonly noFix: string | null;
            readonly cures: readonly { readonly title: string; readonly effect: string; readonly command: Command | null }[];
        }[];
    } | null;
}

/** Which calls of `backward` in a document were followed; see the server's `tapelint.coverage`. */
export interface Coverage {
    readonly sentence: string;
    readonly findings: number;
    readonly seconds: number;
    readonly notices: readonly string[];
    readonly calls: readonly {
        readonly code: string;
        readonly location: Place | null;
        readonly following: string;
        readonly cause: { readonly message: string; readonly location: Place | null; readonly help: string } | null;
    }[];
}

/** The graph of a finding or an expression; `client/webview` draws it. */
export interface Graph {
    readonly why: string | null;
    readonly picture: {
        readonly title: string;
        readonly columns: readonly string[];
        readonly notes: readonly string[];
        readonly nodes: readonly {
            readonly number: number;
            readonly title: string;
            readonly details: readonly string[];
            readonly column: number;
            readonly place: Place | null;
            readonly marked: boolean;
        }[];
    } | null;
}

class QuietClient extends LanguageClient {
    override error(message: string, data?: unknown, showNotification?: boolean | 'force'): void {
        // Forced ones are about the connection; the caller explains those better.
        super.error(message, data, showNotification === 'force' ? false : showNotification);
    }
}

export class Connection {
    private readonly client: LanguageClient;

    constructor(child: ChildProcess, log: vscode.LogOutputChannel, status: Status) {
        const options: LanguageClientOptions = {
            documentSelector: [
                { language: 'python', scheme: 'file' },
                { language: 'python', scheme: 'untitled' },
                { language: 'python', scheme: 'vscode-notebook-cell' },
                { language: 'python', scheme: EXAMPLE },
            ],
            outputChannel: log,
            traceOutputChannel: log,
            stdioOptions: { stdout: () => {}, stderr: () => {} },
            initializationOptions: () => ({
                settings: vscode.workspace.getConfiguration(SECTION),
                showsFindingsBesideHovers: true,
            }),
            initializationFailedHandler: () => false,
            middleware: { ...linkingRules, ...tellingRefusals, ...withoutHighlights, ...besidePages },
            errorHandler: {
                error: (_error, _message, count) => ({
                    action: (count ?? 0) < BROKEN_MESSAGES ? ErrorAction.Continue : ErrorAction.Shutdown,
                    handled: true,
                }),
                closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
            },
        };
        this.client = new QuietClient(SECTION, 'tapelint', () => Promise.resolve(child), options);
        this.client.onNotification('tapelint/status', ({ state, message }: StatusParams) => status[state](message ?? ''));
    }

    async start(): Promise<void> {
        await within(START_TIME, 'The server', this.client.start());
    }

    async stop(): Promise<void> {
        if (this.client.state === State.Running) {
            await this.client.stop(STOP_TIME);
        }
        await this.client.dispose(STOP_TIME);
    }

    debugInformation(): Promise<unknown> {
        const request = this.client.sendRequest('workspace/executeCommand', {
            command: 'tapelint.debugInformation',
            arguments: [],
        });
        return within(STOP_TIME, 'The server', request);
    }

    /** The page of a rule as Markdown; null where there is no such rule. */
    rulePage(code: string): Promise<string | null> {
        return this.client.sendRequest('workspace/executeCommand', { command: 'tapelint.rule', arguments: [code] });
    }

    /** The story that a cursor is in; null if it is in none. */
    story(uri: string, { line, character }: vscode.Position): Promise<Story | null> {
        const given = [uri, { line, character }];
        return this.client.sendRequest('workspace/executeCommand', { command: 'tapelint.story', arguments: given });
    }

    /** What was followed of an open document, with the causes of the rest if they are asked for; null where it is not open. */
    coverage(uri: string, withCauses: boolean): Promise<Coverage | null> {
        return this.client.sendRequest('workspace/executeCommand', { command: 'tapelint.coverage', arguments: [uri, withCauses] });
    }

    /** The graph of what is at a position of an open document. */
    graph(uri: string, { line, character }: vscode.Position): Promise<Graph> {
        const given = [uri, { line, character }];
        return this.client.sendRequest('workspace/executeCommand', { command: 'tapelint.graph', arguments: given });
    }

    /** Runs a command that the server has made; whether it did something. */
    async run({ command, arguments: given }: Command): Promise<boolean> {
        const answer = await this.client.sendRequest<{ applied: boolean }>('workspace/executeCommand', { command, arguments: given });
        return answer.applied;
    }

    /** Makes the safe fixes of a document; how many. What else there is to say of it the server says. */
    async fixAll(uri: string): Promise<number> {
        const asked = { command: 'tapelint.fixAll', arguments: [uri] };
        const answer = await this.client.sendRequest<{ fixes: number; applied: boolean }>('workspace/executeCommand', asked);
        return answer.applied ? answer.fixes : 0;
    }

    /** Explains a traceback, found below the folders of the workspace or in the file at `uri`. */
    explain(traceback: string, uri?: string): Promise<Explanation> {
        const given = uri === undefined ? [traceback] : [traceback, uri];
        return this.client.sendRequest('workspace/executeCommand', { command: 'tapelint.explain', arguments: given });
    }
}
