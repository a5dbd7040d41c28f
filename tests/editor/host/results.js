// @ts-check
/** Runs tests in order, and tells the driver what came of them. */

const assert = require('node:assert/strict');
const fs = require('node:fs');

/**
 * Results go to a file, for the driver to print; after a failure the rest would only repeat it.
 * @param {Record<string, () => Promise<void>>} tests
 */
exports.finish = async function finish(tests) {
    const results = [];
    for (const [name, test] of Object.entries(tests)) {
        const started = Date.now();
        const error = await test().then(() => undefined, (/** @type {Error} */ thrown) => thrown.stack ?? String(thrown));
        results.push({ name, seconds: (Date.now() - started) / 1000, error });
        if (error !== undefined) {
            break;
        }
    }
    const file = process.env['TAPELINT_EDITOR_RESULTS'];
    assert.ok(file);
    fs.writeFileSync(`${file}.part`, JSON.stringify(results));
    fs.renameSync(`${file}.part`, file);
};
