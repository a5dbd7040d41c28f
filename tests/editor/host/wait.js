// @ts-check
/** Waiting for what the editor does in its own time. */

const PATIENCE = 30_000;

/**
 * The first result of `look` that is neither false nor undefined.
 * @template T
 * @param {string} what named in the error if it never comes
 * @param {() => T | false | undefined | Promise<T | false | undefined>} look
 * @returns {Promise<T>}
 */
exports.until = async function until(what, look) {
    const deadline = Date.now() + PATIENCE;
    for (;;) {
        const found = await look();
        if (found !== false && found !== undefined) {
            return found;
        }
        if (Date.now() > deadline) {
            throw new Error(`waited ${PATIENCE / 1000} s in vain for: ${what}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
};
