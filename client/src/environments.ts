/**
 * Asks the extensions that know which Python the user selected. Neither is required, and neither is trusted to answer:
 * an answer that comes too late is made up for by a later `onChange`.
 */

import * as vscode from 'vscode';
import { messageOf, within } from './timeout';

const ANSWER_TIME = 4_000;

interface Provider {
    readonly name: string;
    readonly extension: string;
    selected(api: unknown, folder: vscode.Uri | undefined): Promise<string | undefined>;
    changed(api: unknown): vscode.Event<unknown>;
}

/** What is used of ms-python.vscode-python-envs; published as `@vscode/python-environments`. */
interface EnvironmentsApi {
    getEnvironment(scope: vscode.Uri | undefined): Promise<{ execInfo: { run: { executable: string } } } | undefined>;
    readonly onDidChangeEnvironment: vscode.Event<unknown>;
}

/** What is used of ms-python.python; published as `@vscode/python-extension`. */
interface PythonApi {
    readonly environments: {
        getActiveEnvironmentPath(folder: vscode.Uri | undefined): { path: string };
        resolveEnvironment(path: { path: string }): Promise<{ executable: { uri: vscode.Uri | undefined } } | undefined>;
        readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
    };
}

const PROVIDERS: readonly Provider[] = [
    {
        name: 'Python Environments extension',
        extension: 'ms-python.vscode-python-envs',
        selected: async (api, folder) => (await (api as EnvironmentsApi).getEnvironment(folder))?.execInfo.run.executable,
        changed: (api) => (api as EnvironmentsApi).onDidChangeEnvironment,
    },
    {
        name: 'Python extension',
        extension: 'ms-python.python',
        selected: async (api, folder) => {
            const { environments } = api as PythonApi;
            const resolved = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(folder));
            return resolved?.executable.uri?.fsPath;
        },
        changed: (api) => (api as PythonApi).environments.onDidChangeActiveEnvironmentPath,
    },
];

export class Environments implements vscode.Disposable {
    private readonly listeners = new Map<string, vscode.Disposable>();

    constructor(
        private readonly log: vscode.LogOutputChannel,
        private readonly onChange: () => void,
    ) {}

    /** The selected interpreters, best source first. */
    async *selected(): AsyncGenerator<{ path: string; source: string }> {
        const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
        for (const provider of PROVIDERS) {
            const extension = vscode.extensions.getExtension<unknown>(provider.extension);
            if (extension === undefined) {
                continue;
            }
            try {
                const api = await within(ANSWER_TIME, provider.name, this.activate(extension, provider));
                const path = await within(ANSWER_TIME, provider.name, provider.selected(api, folder));
                if (path) {
                    yield { path, source: provider.name };
                }
            } catch (error) {
                this.log.warn(`${provider.name} was of no help: ${messageOf(error)}`);
            }
        }
    }

    /** Goes on after the caller's time is up, so that a slow extension is listened to once it is there. */
    private async activate(extension: vscode.Extension<unknown>, provider: Provider): Promise<unknown> {
        const started = Date.now();
        const api = await extension.activate();
        if (!this.listeners.has(provider.extension)) {
            this.listeners.set(provider.extension, provider.changed(api)(this.onChange));
            if (Date.now() - started > ANSWER_TIME) {
                this.onChange();
            }
        }
        return api;
    }

    dispose(): void {
        for (const listener of this.listeners.values()) {
            listener.dispose();
        }
    }
}
