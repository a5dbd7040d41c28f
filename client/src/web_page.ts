/** A page of a webview: nothing in it comes from elsewhere, and only scripts with its nonce run. */

import { randomBytes } from 'node:crypto';
import { escaped } from './html';

/** `body` is given the nonce for its scripts. */
export function webPage(title: string, style: string, body: (nonce: string) => string): string {
    const nonce = randomBytes(16).toString('hex');
    const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'`;
    return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escaped(title)}</title><style>${style}</style></head>
<body>${body(nonce)}</body></html>`;
}
