/** The server's process: how it is started, what it last said, and how it ended. */

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as vscode from 'vscode';
import type { Interpreter } from './python';
import type { Settings } from './settings';

export interface Command {
    readonly program: string;
    readonly arguments: readonly string[];
    readonly folder: string;
}

const LAST_LINES = 20;

/** Isolated (`-I`), and in the extension's folder: nothing of the workspace gets onto the server's import path. */
export function serverCommand(interpreter: Interpreter, settings: Settings, extension: string): Command {
    const strategy = settings.importStrategy === 'fromEnvironment' ? ['--from-environment'] : [];
    const launcher = join(extension, 'client', 'launch.py');
    return {
        program: interpreter.path,
        arguments: ['-I', '-X', 'utf8', launcher, ...strategy, 'server'],
        folder: extension,
    };
}

export class ServerProcess {
    readonly child: ChildProcess;
    private readonly lastLines: string[] = [];
    private readonly ended: Promise<void>;

    constructor(command: Command, log: vscode.LogOutputChannel, onEnd: (cause: string) => void) {
        log.info(`Starting ${[command.program, ...command.arguments].join(' ')}`);
        this.child = spawn(command.program, command.arguments, { cwd: command.folder, windowsHide: true });
        this.child.once('error', (error) => onEnd(error.message));
        this.child.once('close', (code, signal) => onEnd(this.describeEnd(code, signal)));
        this.ended = new Promise((resolve) => {
            this.child.once('error', () => resolve());
            this.child.once('close', () => resolve());
        });
        if (this.child.stderr !== null) {
            createInterface({ input: this.child.stderr }).on('line', (line) => {
                log.info(line);
                this.lastLines.push(line);
                this.lastLines.splice(0, this.lastLines.length - LAST_LINES);
            });
        }
    }

    /** Resolves when the process has ended and that was told, or after so many milliseconds. */
    async ending(patience: number): Promise<void> {
        await Promise.race([this.ended, new Promise((resolve) => setTimeout(resolve, patience))]);
    }

    get isAlive(): boolean {
        return this.child.pid !== undefined && this.child.exitCode === null && this.child.signalCode === null;
    }

    kill(): void {
        if (this.isAlive) {
            this.child.kill('SIGKILL');
        }
    }

    /** Python puts the reason on the last line of a traceback. */
    private describeEnd(code: number | null, signal: NodeJS.Signals | null): string {
        const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
        const last = this.lastLines.findLast((line) => line.trim() !== '');
        return last === undefined ? how : `${how}, last words: ${last.trim()}`;
    }
}
