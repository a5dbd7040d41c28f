/** Runs tapelint in Pyodide. Everything that it loads lies beside it. */

import type { Asked, Told } from './protocol';

const HERE = new URL('.', self.location.href).href;
const tell = (told: Told): void => self.postMessage(told);

async function loaded(): Promise<(question: string) => string> {
    tell({ kind: 'loading', what: 'Loading Python (13 MB, once)' });
    const archive = fetched('tapelint.zip');
    const { loadPyodide } = (await import(`${HERE}pyodide/pyodide.mjs`)) as typeof import('pyodide');
    const pyodide = await loadPyodide({ indexURL: `${HERE}pyodide/` });
    tell({ kind: 'loading', what: 'Starting tapelint' });
    pyodide.unpackArchive(await archive, 'zip', { extractDir: '/tapelint' });
    pyodide.FS.mkdir('/playground');
    return pyodide.runPython(`
import sys
sys.path.insert(0, "/tapelint")
from playground_session import answering
answering("/playground")
`) as (question: string) => string;
}

async function fetched(name: string): Promise<ArrayBuffer> {
    const response = await fetch(HERE + name);
    if (!response.ok) {
        throw new Error(`${name}: ${response.status} ${response.statusText}`);
    }
    return response.arrayBuffer();
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
