/** The page that explains an error: what is wrong and where, a button for each cure, the steps as links, PyTorch's own words folded. */

import type { Command, Explanation, Line } from './connection';
import { escaped } from './html';
import type { Place } from './places';
import { webPage } from './web_page';

/** What a link or a button does; the page knows it by its number. */
export type Action =
    | { readonly kind: 'place' | 'lightbulb'; readonly place: Place }
    | { readonly kind: 'rule'; readonly code: string }
    | { readonly kind: 'cure'; readonly command: Command };

type Content = NonNullable<Explanation['page']>;
type Finding = Content['findings'][number];
type Cure = Finding['cures'][number];

/** How the title of a fix ends that may change what is computed. */
const UNSAFE = ' [unsafe]';
const STYLE = `
body { padding: 0.5em 1.2em 1.5em; line-height: 1.5; overflow-wrap: anywhere; }
h2 { margin: 0.3em 0; font-size: 1.25em; line-height: 1.35; } h3 { margin: 1.2em 0 0.3em; font-size: 1em; }
section + section { margin-top: 2em; border-top: 1px solid var(--vscode-editorWidget-border, var(--vscode-contrastBorder, #8888)); }
section h2 { padding-left: 0.5em; border-left: 4px solid var(--vscode-editorWarning-foreground, #cca700); } h2.error { border-color: var(--vscode-editorError-foreground, #f14c4c); }
.quiet { color: var(--vscode-descriptionForeground); } p { margin: 0.4em 0; } .remark, details p { white-space: pre-wrap; }
code { font-family: var(--vscode-editor-font-family, monospace); color: inherit; background: var(--vscode-textCodeBlock-background); padding: 0 0.2em; border-radius: 3px; }
a { color: var(--vscode-textLink-foreground); } a:focus-visible, button:focus-visible, summary:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: 2px; }
ol { padding-left: 1.6em; margin: 0.3em 0; } li { margin: 0.4em 0; }
button { display: block; margin: 0.5em 0 0; padding: 0.4em 0.9em; text-align: left; font: inherit; cursor: pointer; border-radius: 2px;
  border: 1px solid var(--vscode-button-border, var(--vscode-contrastBorder, transparent));
  color: var(--vscode-button-foreground); background: var(--vscode-button-background); }
button code { background: none; padding: 0; } button:hover { background: var(--vscode-button-hoverBackground); }
button.other { color: var(--vscode-button-secondaryForeground); background: var(--vscode-button-secondaryBackground); }
button.other:hover { background: var(--vscode-button-secondaryHoverBackground); }
#said:not(:empty) { margin-top: 0.8em; }
`;
const SCRIPT = `
const editor = acquireVsCodeApi();
for (const each of document.querySelectorAll('[data-action]')) {
    each.addEventListener('click', (event) => {
        event.preventDefault();
        editor.postMessage({ action: Number(each.dataset.action) });
    });
}
window.addEventListener('message', ({ data }) => { document.getElementById('said').textContent = data.said; });
`;

/** The page, and what its links and buttons do. */
export function pageOf(content: Content): { html: string; actions: readonly Action[] } {
    const page = new Page();
    const findings = content.findings.map((finding) => page.finding(finding)).join('');
    const remarks = content.remarks.map((remark) => `<p class="remark">${page.linked(remark)}</p>`).join('');
    const headline = content.findings.length === 0 ? '<h2>The cause was not found</h2>' : '';
    const raised = content.raised === null ? '' : `<p>Raised at ${page.line(content.raised)}</p>`;
    const html = webPage('Explanation of an error', STYLE, (nonce) => `${headline}${remarks}${findings}<p id="said" role="status"></p>
<h3>PyTorch's error</h3>${raised}<details><summary>The whole message</summary><p>${escaped(content.error)}</p></details>
<script nonce="${nonce}">${SCRIPT}</script>`);
    return { html, actions: page.actions };
}

class Page {
    readonly actions: Action[] = [];

    finding(found: Finding): string {
        const { code, name, severity, message, place, help, needs, steps, noFix, cures } = found;
        const told = steps.map((step) => `<li>${marked(step.message)}<br>${this.line(step.place)}</li>`).join('');
        return `<section><h2 class="${escaped(severity)}">${marked(message)}</h2>
<p>${this.line(place)}</p>
${[needs, help ?? ''].filter((words) => words !== '').map((words) => `<p>${marked(words)}</p>`).join('')}
${cures.map((cure, index) => this.cure(cure, place, index > 0)).join('')}
${noFix === null ? '' : `<p>There is no safe fix: ${marked(noFix)}</p>`}
${told === '' ? '' : `<h3>How it comes to this</h3><ol>${told}</ol>`}
<p class="quiet">${severity} ${this.link({ kind: 'rule', code }, escaped(`${code} ${name}`))}</p></section>`;
    }

    /** A place as a link, with the code that stands there. */
    line({ name, code, location }: Line): string {
        const at = location === null ? escaped(name) : this.link({ kind: 'place', place: location }, escaped(name));
        return code === '' ? at : `${at} <code>${escaped(code)}</code>`;
    }

    /** Words in which the codes of rules are links. */
    linked(words: string): string {
        return marked(words).replace(/\bTL\d{3}\b/g, (code) => this.link({ kind: 'rule', code }, code));
    }

    private cure({ title, effect, command }: Cure, { location }: Line, isOther: boolean): string {
        if (command === null && location === null) {
            return `<p>${marked(title)}</p>`;
        }
        const isUnsafe = title.endsWith(UNSAFE);
        const action: Action = command !== null ? { kind: 'cure', command } : { kind: 'lightbulb', place: location as Place };
        const text = marked(isUnsafe ? title.slice(0, -UNSAFE.length) : title);
        const note = [isUnsafe ? 'This may change what is computed.' : '', effect].filter((words) => words !== '').map(marked).join(' ');
        return `<button class="${isOther ? 'other' : 'first'}" data-action="${this.number(action)}">${text}</button><span class="quiet">${note}</span>`;
    }

    private link(action: Action, html: string): string {
        return `<a href="#" data-action="${this.number(action)}">${html}</a>`;
    }

    private number(action: Action): number {
        return this.actions.push(action) - 1;
    }
}

/** Text with what is in backticks as code. */
function marked(text: string): string {
    return escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}
