/** Finds the Python that runs the server: the setting, what other extensions know, then PATH. */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join, relative } from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { Environments } from './environments';
import { messageOf } from './timeout';

export interface Interpreter {
    readonly path: string;
    readonly version: string;
    readonly source: string;
    /** Which interpreters that someone chose were tried before and why they cannot run the server. */
    readonly skipped: readonly string[];
}

/** No usable Python; the message tells what was tried. */
export class NoInterpreter extends Error {}

interface Candidate {
    readonly path: string;
    readonly source: string;
}

const PATH = 'PATH';

const OLDEST = [3, 10] as const;
const PROBE = 'import sys; print("%d.%d.%d" % sys.version_info[:3]); print(sys.executable)';
const PROBE_TIME = 10_000;
const run = promisify(execFile);

/** `home` is a folder that is not the workspace's, to run in. */
export async function findInterpreter(
    setting: readonly string[],
    environments: Environments,
    home: string,
): Promise<Interpreter> {
    const failures: string[] = [];
    const skipped: string[] = [];
    for await (const candidate of candidates(setting, environments)) {
        try {
            return { ...await probe(candidate, home), skipped };
        } catch (error) {
            const failure = `${candidate.path} (${candidate.source}): ${messageOf(error)}`;
            failures.push(failure);
            if (candidate.source !== PATH) {
                skipped.push(failure);
            }
        }
    }
    const tried = failures.length > 0 ? `Tried ${failures.join('; ')}.` : 'There is no python3 and no python on PATH.';
    throw new NoInterpreter(`No Python ${OLDEST.join('.')} or newer to run the server. ${tried}`);
}

/** What the user is to know of interpreters that were skipped; empty where none was. */
export function tellSkipped({ skipped, path, version }: Interpreter): string {
    return skipped.length === 0 ? '' : `${skipped.join('; ')}. The server needs Python ${OLDEST.join('.')} or newer and runs under ${path} (Python ${version}). `
        + 'To choose which, set tapelint.interpreter.';
}

async function* candidates(setting: readonly string[], environments: Environments): AsyncGenerator<Candidate> {
    if (setting.length > 0) {
        // Who names an interpreter wants that one: falling back to another would hide a mistake.
        yield* setting.map((path) => ({ path, source: 'the setting tapelint.interpreter' }));
        return;
    }
    if (vscode.workspace.isTrusted) {
        yield* environments.selected();
    }
    yield* onPath();
}

function* onPath(): Generator<Candidate> {
    const suffix = process.platform === 'win32' ? '.exe' : '';
    const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder) && !isRestricted(folder));
    for (const name of ['python3', 'python']) {
        for (const path of folders.map((folder) => join(folder, name + suffix))) {
            if (existsSync(path)) {
                yield { path, source: PATH };
            }
        }
    }
}

/** Whether a folder belongs to a workspace whose programs must not be run. */
function isRestricted(folder: string): boolean {
    const inside = (root: string) => {
        const path = relative(root, folder);
        return !path.startsWith('..') && !isAbsolute(path);
    };
    return !vscode.workspace.isTrusted && (vscode.workspace.workspaceFolders ?? []).some(({ uri }) => inside(uri.fsPath));
}

/** Runs the interpreter once. It names its own executable, which sees through shims and launchers. */
async function probe({ path, source }: Candidate, home: string): Promise<Omit<Interpreter, 'skipped'>> {
    const { stdout } = await run(path, ['-I', '-c', PROBE], { cwd: home, timeout: PROBE_TIME, windowsHide: true });
    const [version = '', executable = ''] = stdout.trim().split(/\r?\n/);
    const [major = 0, minor = 0] = version.split('.').map(Number);
    if (major !== OLDEST[0] || minor < OLDEST[1]) {
        throw new Error(`is Python ${version}`);
    }
    return { path: executable || path, version, source };
}
