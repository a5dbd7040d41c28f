/** Draws pictures (JSON, an array on standard input) as the editor does; answers with an array of SVG documents. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { build } from 'esbuild';

const LETTER = 6.6;
const folder = mkdtempSync(join(tmpdir(), 'tapelint-draw-'));
try {
    const outfile = join(folder, 'drawing.cjs');
    await build({ entryPoints: ['client/webview/drawing.ts'], bundle: true, platform: 'node', format: 'cjs', outfile, logLevel: 'error' });
    const { default: { drawn } } = await import(outfile);
    const pictures = JSON.parse(await text(process.stdin));
    const drawings = [];
    for (const picture of pictures) {
        drawings.push(await drawn(picture, LETTER));
    }
    process.stdout.write(JSON.stringify(drawings));
} finally {
    rmSync(folder, { recursive: true });
}
