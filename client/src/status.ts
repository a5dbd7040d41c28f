/** The `{}` item beside the language mode: what the server does, and if nothing, why. */

import * as vscode from 'vscode';

export type State = 'off' | 'starting' | 'busy' | 'ready' | 'error';

export const SHOW_LOG: vscode.Command = { command: 'tapelint.showLog', title: 'Show Log' };
export const RESTART: vscode.Command = { command: 'tapelint.restart', title: 'Restart' };
const DETAILS: vscode.Command = { command: 'tapelint.showCoverage', title: 'Details' };
export const CHOOSE_INTERPRETER: vscode.Command = {
    // Connected to another machine, the settings of the user do not show those that belong to that machine.
    command: `workbench.action.open${vscode.env.remoteName === undefined ? '' : 'Workspace'}Settings`,
    title: 'Choose Interpreter',
    arguments: [{ query: 'tapelint.interpreter' }],
};

export class Status implements vscode.Disposable {
    private readonly item = vscode.languages.createLanguageStatusItem('tapelint.status', [{ language: 'python' }]);
    private readonly becameReady = new vscode.EventEmitter<void>();
    private current: State = 'off';
    private message = '';
    private document = '';
    /** Nothing runs: all open documents have been analysed. */
    readonly onReady = this.becameReady.event;

    constructor() {
        this.item.name = 'tapelint';
        this.off();
    }

    get state(): State {
        return this.current;
    }

    off(): void {
        this.show('off', 'tapelint is switched off');
    }

    starting(): void {
        this.show('starting', 'tapelint is starting');
    }

    busy(message?: string): void {
        this.show('busy', 'tapelint is checking', message);
    }

    ready(message = ''): void {
        this.message = message;
        this.showReady();
        this.becameReady.fire();
    }

    /** What there is to say of the document in front. */
    about(sentence: string): void {
        this.document = sentence;
        if (this.current === 'ready') {
            this.showReady();
        }
    }

    /** What is shown, in the words that a user sees. */
    get detail(): string {
        return this.item.detail ?? '';
    }

    private showReady(): void {
        this.show('ready', 'tapelint', [this.document, this.message].filter((part) => part !== '').join(' · '), DETAILS);
    }

    error(message: string, cure: vscode.Command = RESTART): void {
        this.show('error', 'tapelint is not working', message, cure);
    }

    private show(state: State, text: string, detail = '', command: vscode.Command = SHOW_LOG): void {
        this.current = state;
        this.item.text = text;
        this.item.detail = detail;
        this.item.command = command;
        this.item.busy = state === 'starting' || state === 'busy';
        this.item.severity =
            state === 'error' ? vscode.LanguageStatusSeverity.Error : vscode.LanguageStatusSeverity.Information;
    }

    dispose(): void {
        this.item.dispose();
        this.becameReady.dispose();
    }
}
