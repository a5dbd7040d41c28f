/** A VS Code of one's own: code-server with empty profile, one extension, one workspace; gone without a trace. */

import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SETTINGS = {
    'workbench.startupEditor': 'none',
    'workbench.activityBar.location': 'hidden',
    'workbench.layoutControl.enabled': false,
    'workbench.navigationControl.enabled': false,
    'workbench.colorTheme': 'Default Light Modern',
    'workbench.editor.showTabs': 'single',
    'window.commandCenter': false,
    'window.menuBarVisibility': 'hidden',
    'chat.commandCenter.enabled': false,
    'breadcrumbs.enabled': false,
    'editor.minimap.enabled': false,
    'editor.fontSize': 14,
    'editor.lineHeight': 21,
    'editor.hover.delay': 100,
    'editor.hover.above': false,
    'editor.scrollBeyondLastLine': true,
    'editor.occurrencesHighlight': 'off',
    'editor.stickyScroll.enabled': false,
    'editor.guides.indentation': false,
    'editor.renderLineHighlight': 'none',
    'editor.overviewRulerBorder': false,
    'editor.hideCursorInOverviewRuler': true,
    'workbench.statusBar.visible': false,
    'workbench.tips.enabled': false,
    'problems.defaultViewMode': 'tree',
    'terminal.integrated.gpuAcceleration': 'off',
    'git.enabled': false,
    'python.languageServer': 'None',
    'telemetry.telemetryLevel': 'off',
    'security.workspace.trust.startupPrompt': 'never',
    'security.workspace.trust.banner': 'never',
};

export class Editor {
    /**
     * @param {{cache: string, vsix: string, workspace: string, trusted?: boolean}} what
     *     `workspace` is copied, so that tests may change it; `trusted: false` leaves it in restricted mode
     */
    static async start({ cache, vsix, workspace, trusted = true }) {
        const scratch = mkdtempSync(join(tmpdir(), 'tapelint-editor-'));
        const editor = new Editor(cache, scratch, await freePort());
        cpSync(workspace, editor.workspace, { recursive: true });
        const user = join(scratch, 'user', 'User');
        mkdirSync(user, { recursive: true });
        writeFileSync(join(user, 'settings.json'), JSON.stringify(SETTINGS));
        cpSync(extensions(editor.program, vsix), join(scratch, 'extensions'), { recursive: true });
        await editor.#serve(trusted ? ['--disable-workspace-trust'] : []);
        return editor;
    }

    constructor(cache, scratch, port) {
        this.scratch = scratch;
        this.workspace = join(scratch, 'workspace');
        this.results = join(scratch, 'results.json');
        this.port = port;
        this.program = join(cache, 'node_modules', 'code-server', 'out', 'node', 'entry.js');
        this.folders = foldersIn(scratch);
    }

    async #serve(trust) {
        const options = ['--auth', 'none', '--bind-addr', `127.0.0.1:${this.port}`, '--disable-telemetry',
            '--disable-update-check', '--disable-getting-started-override', ...trust];
        const log = openSync(join(this.scratch, 'code-server.log'), 'w');
        this.server = spawn(process.execPath, [this.program, ...this.folders, ...options], {
            stdio: ['ignore', log, log],
            env: { ...process.env, TAPELINT_EDITOR_RESULTS: this.results },
        });
        for (let attempt = 0; attempt < 300; attempt++) {
            if (await fetch(`http://127.0.0.1:${this.port}/healthz`).then(({ ok }) => ok, () => false)) {
                return;
            }
            await new Promise((resolve) => setTimeout(resolve, 100));
        }
        throw new Error(`code-server did not start\n${this.log()}`);
    }

    log() {
        return readFileSync(join(this.scratch, 'code-server.log'), 'utf8');
    }

    /** @param {[string, string][]} payload what VS Code's web client takes besides a folder */
    url(payload) {
        const remote = (path) => `vscode-remote://127.0.0.1:${this.port}${path}`;
        const pairs = payload.map(([key, path]) => [key, remote(path)]);
        return `http://127.0.0.1:${this.port}/?folder=${this.workspace}&payload=${encodeURIComponent(JSON.stringify(pairs))}`;
    }

    async stop() {
        const ended = new Promise((resolve) => this.server.once('exit', resolve));
        this.server.kill('SIGTERM');
        await ended;
        await remove(this.scratch);
    }
}

/** Options that keep all that code-server writes in one folder. */
function foldersIn(scratch) {
    return ['--config', join(scratch, 'config.yaml'),
        '--user-data-dir', join(scratch, 'user'), '--extensions-dir', join(scratch, 'extensions')];
}

const installed = new Map();

/** The folder into which VS Code has installed a VSIX, once for all editors of this process; each gets a copy. */
function extensions(program, vsix) {
    if (!installed.has(vsix)) {
        const scratch = mkdtempSync(join(tmpdir(), 'tapelint-vsix-'));
        process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
        const { status, stdout, stderr } = spawnSync(
            process.execPath, [program, ...foldersIn(scratch), '--install-extension', vsix], { encoding: 'utf8' },
        );
        if (status !== 0) {
            throw new Error(`the VSIX could not be installed\n${stdout}${stderr}`);
        }
        installed.set(vsix, join(scratch, 'extensions'));
    }
    return installed.get(vsix);
}

/** VS Code's processes, and tapelint's, end soon after code-server; until then they may write. */
async function remove(folder) {
    for (let attempt = 1; ; attempt++) {
        try {
            rmSync(folder, { recursive: true, force: true });
            return;
        } catch (error) {
            if (attempt === 20) {
                throw error;
            }
            await new Promise((resolve) => setTimeout(resolve, 500));
        }
    }
}

function freePort() {
    return new Promise((resolve, reject) => {
        const server = createServer().once('error', reject);
        server.listen(0, '127.0.0.1', () => {
            const { port } = server.address();
            server.close(() => resolve(port));
        });
    });
}
