/** The `{}` item beside the language mode: what the server does, and if nothing, why. */

import * as vscode from 'vscode';

export type State = 'off' | 'starting' | 'busy' | 'ready' | 'error';

const LOG: vscode.Command = { command: 'tapelint.showLog', title: 'Show log' };
const RESTART: vscode.Command = { command: 'tapelint.restart', title: 'Restart' };
export const CHOOSE_INTERPRETER: vscode.Command = {
    command: 'workbench.action.openSettings',
    title: 'Choose interpreter',
    arguments: ['tapelint.interpreter'],
};

export class Status implements vscode.Disposable {
    private readonly item = vscode.languages.createLanguageStatusItem('tapelint.status', [{ language: 'python' }]);
    private current: State = 'off';

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

    ready(message?: string): void {
        this.show('ready', 'tapelint', message);
    }

    error(message: string, cure: vscode.Command = RESTART): void {
        this.show('error', 'tapelint is not working', message, cure);
    }

    private show(state: State, text: string, detail = '', command: vscode.Command = LOG): void {
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
    }
}
