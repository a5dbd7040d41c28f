/** Keeps one server running, as the settings and the selected interpreter have it; changes are applied one by one. */

import * as vscode from 'vscode';
import { type Command as ServerCommand, Connection, type Coverage, type Explanation, type Graph } from './connection';
import { Crashes } from './crashes';
import { Environments } from './environments';
import { ServerProcess, serverCommand, type Command } from './process';
import { findInterpreter, NoInterpreter, tellSkipped, type Interpreter } from './python';
import { readSettings } from './settings';
import { CHOOSE_INTERPRETER, RESTART, SHOW_LOG, type Status } from './status';
import type { Story } from './story';
import { messageOf } from './timeout';

/** Milliseconds in which a process ends whose connection has closed. */
const CLOSING = 1_000;

interface Running {
    readonly command: Command;
    readonly interpreter: Interpreter;
    readonly process: ServerProcess;
    readonly connection: Connection;
    started: boolean;
}

export type { Coverage, Graph } from './connection';

export class Server implements vscode.Disposable {
    private readonly environments: Environments;
    private readonly crashes = new Crashes();
    private queue: Promise<void> = Promise.resolve();
    private queued = false;
    private running: Running | undefined;
    private retry: NodeJS.Timeout | undefined;
    /** Why there is no Python, or not the chosen one, as the user has been told; empty where there is nothing to tell. */
    private missing: string | undefined;

    constructor(
        private readonly extension: string,
        private readonly log: vscode.LogOutputChannel,
        private readonly status: Status,
    ) {
        this.environments = new Environments(log, () => void this.update());
    }

    get pid(): number | undefined {
        return this.running?.process.child.pid;
    }

    get interpreter(): Interpreter | undefined {
        return this.running?.interpreter;
    }

    get command(): Command | undefined {
        return this.running?.command;
    }

    /** Starts, stops or exchanges the server if what should run differs from what runs. */
    update(): Promise<void> {
        if (!this.queued) {
            this.queued = true;
            this.enqueue(() => {
                this.queued = false;
                return this.apply();
            });
        }
        return this.queue;
    }

    restart(): Promise<void> {
        this.crashes.forget();
        return this.enqueue(async () => {
            await this.stop();
            await this.apply();
        });
    }

    async debugInformation(): Promise<unknown> {
        return this.running?.started ? this.running.connection.debugInformation() : undefined;
    }

    /** The explanation of a traceback; undefined where no server runs. One that is about to start is waited for: the
     * command may be what has activated the extension.
     */
    async explain(traceback: string, uri?: string): Promise<Explanation | undefined> {
        await this.queue;
        return this.running?.started ? this.running.connection.explain(traceback, uri) : undefined;
    }

    /** Runs a command that the server has made; whether it did something. */
    async run(command: ServerCommand): Promise<boolean> {
        return this.running?.started === true && this.running.connection.run(command);
    }

    /** Makes the safe fixes of a document; how many. */
    async fixAll(uri: string): Promise<number> {
        await this.queue;
        return this.running?.started ? this.running.connection.fixAll(uri) : 0;
    }

    /** The story that a cursor is in; undefined while no server runs. */
    async story(uri: string, position: vscode.Position): Promise<Story | null | undefined> {
        return this.running?.started ? this.running.connection.story(uri, position) : undefined;
    }

    /** What was followed of a document; undefined while no server runs. */
    async coverage(uri: string, withCauses: boolean): Promise<Coverage | null | undefined> {
        return this.running?.started ? this.running.connection.coverage(uri, withCauses) : undefined;
    }

    /** The graph of what is at a position; undefined while no server runs. */
    async graph(uri: string, position: vscode.Position): Promise<Graph | undefined> {
        await this.queue; // the command may be what has activated the extension
        return this.running?.started ? this.running.connection.graph(uri, position) : undefined;
    }

    /** The page of a rule; undefined while no server runs. */
    async rulePage(code: string): Promise<string | null | undefined> {
        return this.running?.started ? this.running.connection.rulePage(code) : undefined;
    }

    async shutDown(): Promise<void> {
        await this.enqueue(() => this.stop());
    }

    dispose(): void {
        this.environments.dispose();
    }

    private enqueue(task: () => Promise<void>): Promise<void> {
        this.queue = this.queue.then(task).catch((error: unknown) => this.fail(messageOf(error)));
        return this.queue;
    }

    private async apply(): Promise<void> {
        const settings = readSettings();
        if (!settings.enable) {
            await this.stop();
            this.status.off();
            return;
        }
        let interpreter: Interpreter;
        try {
            interpreter = await findInterpreter(settings.interpreters, this.environments, this.extension);
        } catch (error) {
            await this.stop();
            if (!(error instanceof NoInterpreter)) {
                throw error;
            }
            this.log.error(error.message);
            this.status.error(error.message, CHOOSE_INTERPRETER);
            if (this.missing !== error.message) {
                this.missing = error.message;
                this.offer(error.message, [CHOOSE_INTERPRETER, SHOW_LOG]);
            }
            return;
        }
        const skipped = tellSkipped(interpreter);
        if (skipped !== '' && this.missing !== skipped) {
            this.log.warn(skipped);
            this.offer(skipped, [CHOOSE_INTERPRETER, SHOW_LOG], vscode.window.showWarningMessage);
        }
        this.missing = skipped;
        const command = serverCommand(interpreter, settings, this.extension);
        if (JSON.stringify(command) !== JSON.stringify(this.running?.command)) {
            await this.stop();
            await this.start(command, interpreter);
        }
    }

    private async start(command: Command, interpreter: Interpreter): Promise<void> {
        this.status.starting();
        this.log.info(`Python ${interpreter.version}: ${interpreter.path}, from ${interpreter.source}`);
        const process = new ServerProcess(command, this.log, (cause) => this.ended(running, cause));
        const connection = new Connection(process.child, this.log, this.status);
        const running: Running = { command, interpreter, process, connection, started: false };
        this.running = running;
        try {
            await connection.start();
            running.started = true;
            if (this.status.state === 'starting') {
                this.status.ready();
            }
        } catch (error) {
            // A process that ends on its own tells the reason in ended(), which may come after its connection has closed.
            await process.ending(CLOSING);
            if (this.running === running) {
                await this.stop();
                this.fail(`The server did not start: ${messageOf(error)}`);
            }
        }
    }

    private async stop(): Promise<void> {
        clearTimeout(this.retry);
        const running = this.running;
        this.running = undefined;
        if (running !== undefined) {
            await running.connection.stop().catch((error: unknown) => this.log.warn(messageOf(error)));
            running.process.kill();
        }
    }

    /** The process is gone. Unless that was asked for, say why and start it again, but not forever. */
    private ended(running: Running, cause: string): void {
        if (this.running !== running) {
            return;
        }
        this.running = undefined;
        this.log.error(`The server ended: ${cause}`);
        void running.connection.stop().catch((error: unknown) => this.log.debug(messageOf(error)));
        const delay = this.crashes.add();
        if (delay === undefined) {
            const when = running.started ? 'ended' : 'ended while it started,';
            this.fail(`The server ${when} ${Crashes.limit} and is left stopped. It last ended with ${cause}`);
            return;
        }
        this.status.starting();
        this.retry = setTimeout(() => void this.update(), delay);
    }

    private fail(message: string): void {
        this.log.error(message);
        this.status.error(message);
        this.offer(message, [RESTART, SHOW_LOG]);
    }

    /** A notification with what can be done about it, if the user wants it. */
    private offer(
        message: string,
        commands: readonly vscode.Command[],
        show: (message: string, ...titles: string[]) => Thenable<string | undefined> = vscode.window.showErrorMessage,
    ): void {
        const { notifications } = readSettings();
        if (notifications === 'off' || (notifications === 'onError' && show !== vscode.window.showErrorMessage)) {
            return;
        }
        const titles = commands.map(({ title }) => title);
        void show(`tapelint: ${message}`, ...titles).then((answer) => {
            const chosen = commands.find(({ title }) => title === answer);
            if (chosen !== undefined) {
                void vscode.commands.executeCommand(chosen.command, ...(chosen.arguments ?? []));
            }
        });
    }
}
