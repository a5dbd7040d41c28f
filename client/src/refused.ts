/** Says so where a chosen fix is not made: without a word, the click would seem to have failed. */

import * as vscode from 'vscode';
import type { Middleware } from 'vscode-languageclient/node';

const REFUSED = 'The text has changed since this fix was made for it: nothing was written. Open the lightbulb again.';

export const tellingRefusals: Middleware = {
    resolveCodeAction: async (action, token, next) => {
        try {
            return await next(action, token);
        } catch (error) {
            // So the language client passes on that the server refuses an edit of a text that is no longer there.
            if (error instanceof vscode.CancellationError && !token.isCancellationRequested) {
                void vscode.window.showWarningMessage(REFUSED);
            }
            throw error;
        }
    },
};
