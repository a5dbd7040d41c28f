/** Draws pictures (JSON, an array on standard input) as the editor does, with `--folded` as it opens them; answers with an array of SVG documents. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { build } from 'esbuild';

const LETTER = 6.6;
const folder = mkdtempSync(join(tmpdir(), 'tapelint-draw-'));
try {
    const entryPoints = ['client/webview/drawing.ts', 'client/webview/fold.ts'];
    await build({ entryPoints, bundle: true, platform: 'node', format: 'cjs', outdir: folder, outExtension: { '.js': '.cjs' }, logLevel: 'error' });
    const { default: { drawn } } = await import(join(folder, 'drawing.cjs'));
    const { default: { folded } } = await import(join(folder, 'fold.cjs'));
    const isFolded = process.argv.includes('--folded');
    const pictures = JSON.parse(await text(process.stdin));
    const drawings = [];
    for (const picture of pictures) {
        drawings.push(await drawn(isFolded ? folded(picture, new Set()).picture : picture, LETTER));
    }
    process.stdout.write(JSON.stringify(drawings));
} finally {
    rmSync(folder, { recursive: true });
}
