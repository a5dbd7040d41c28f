/**
 * Installs the VSIX into a real VS Code, runs host/suite.js in its extension host, then checks what restricted mode
 * restricts, and takes the screenshots.
 *
 *     node drive.mjs CACHE VSIX [PICTURES]        (see run.sh)
 */

import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testClosed } from './closed.mjs';
import { testCoverage } from './coverage.mjs';
import { testCures } from './cures.mjs';
import { Editor } from './editor.mjs';
import { testExplanation } from './explanation.mjs';
import { testGraph } from './graph.mjs';
import { takePictures } from './pictures.mjs';
import { testProgress } from './progress.mjs';
import { testStory } from './story.mjs';
import { runSuite } from './suite.mjs';
import { testTerminal } from './terminal.mjs';
import { testTrust } from './trust.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const [cache, vsix, pictures] = process.argv.slice(2).map((path) => resolve(path));
const { chromium } = createRequire(join(cache, 'package.json'))('playwright-core');

const program = { cache, vsix, workspace: join(HERE, 'workspace') };
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
try {
    const editor = await Editor.start(program);
    try {
        if (!await runSuite(browser, editor, 'suite.js')) {
            process.exitCode = 1;
        } else if (pictures) {
            await takePictures(browser, editor, pictures);
        }
    } finally {
        await editor.stop();
    }
    if (!await testClosed(browser, program)) {
        process.exitCode = 1;
    }
    await testProgress(browser, program);
    await testTrust(browser, program);
    await testTerminal(browser, program, pictures);
    await testExplanation(browser, program);
    await testCures(browser, program);
    await testStory(browser, program, pictures);
    await testCoverage(browser, program);
    await testGraph(browser, program, pictures);
} catch (error) {
    console.error(error);
    process.exitCode = 1;
} finally {
    await browser.close();
}
