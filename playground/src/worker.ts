/**
 * Runs tapelint in Pyodide. Everything that it loads lies beside it: Python, and its memory as it was when all of tapelint
 * was imported (tools/playground/snapshot.py).
 */

import type { Asked, Told } from './protocol';

const HERE = new URL('.', self.location.href).href;
const tell = (told: Told): void => self.postMessage(told);

/** What Pyodide's own file makes of the settings that it is given. */
type Create = (settings: unknown) => Promise<{ HEAP8: Int8Array; _malloc(size: number): number }>;

async function loaded(): Promise<(question: string) => string> {
    tell({ kind: 'loading', what: 'Loading Python and tapelint (27 MB, once)' });
    const memory = fetched('tapelint.snapshot');
    const [{ loadPyodide }, { default: create }] = (await Promise.all([
        import(`${HERE}pyodide/pyodide.mjs`),
        import(`${HERE}pyodide/pyodide.asm.mjs`),
    ])) as [typeof import('pyodide'), { default: Create }];
    const pyodide = await loadPyodide({
        indexURL: `${HERE}pyodide/`,
        _loadSnapshot: memory,
        createPyodideModule: async (settings: unknown) => withRoom(await create(settings), (await memory).length),
    } as unknown as Parameters<typeof loadPyodide>[0]);
    return pyodide.runPython('prepared.woken()') as (question: string) => string;
}

/** Pyodide copies the memory of a snapshot to that of a new module, which is too small for it at first. */
function withRoom<Module extends Awaited<ReturnType<Create>>>(module: Module, size: number): Module {
    while (module.HEAP8.length < size) {
        module._malloc(4 << 20);
    }
    return module;
}

/** A file beside this one, which is compressed, whatever the server says of it. */
async function fetched(name: string): Promise<Uint8Array> {
    const response = await fetch(HERE + name);
    if (!response.ok || response.body === null) {
        throw new Error(`${name}: ${response.status} ${response.statusText}`);
    }
    const whole = response.body.pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(whole).arrayBuffer());
}

/** The last line of a Python traceback says what happened. */
function wordsOf(error: unknown): string {
    return String(error).trim().split('\n').at(-1) ?? '';
}

const answering = loaded();
answering.then(
    () => tell({ kind: 'ready' }),
    (error: unknown) => tell({ kind: 'failed', why: wordsOf(error) }),
);

self.addEventListener('message', async ({ data }: MessageEvent<Asked>) => {
    const answer = await answering;
    try {
        tell({ kind: 'answer', number: data.number, answer: answer(data.question) });
    } catch (error) {
        tell({ kind: 'failed', why: wordsOf(error) });
    }
});
