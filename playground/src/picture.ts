/** A graph on the page: its boxes are links to the places that they stand for. */

import { element } from './dom';
import type { Range } from './protocol';

const STYLE = `
svg { max-width: none; --ink: var(--md-default-fg-color); --paper: transparent; --line: var(--md-default-fg-color--light);
  --lane: var(--md-code-bg-color); --box: var(--md-default-bg-color); --bad: var(--pg-error); }
[role="link"] { cursor: pointer; outline: none; }
[role="link"]:hover rect, [role="link"]:focus-visible rect { stroke: var(--md-accent-fg-color); stroke-width: 2.5; }`;

/** An SVG with the site's colours. In a tree of its own, since its styles are for itself. */
export function picture(svg: string, places: Readonly<Record<string, Range>>, pointTo: (range: Range) => void): HTMLElement {
    const host = element('div');
    const tree = host.attachShadow({ mode: 'open' });
    tree.innerHTML = `${svg}<style>${STYLE}</style>`;
    // What is in an image is hidden from screen readers, and the boxes are not to be.
    const drawing = tree.querySelector('svg');
    drawing?.setAttribute('role', 'group');
    drawing?.setAttribute('aria-labelledby', 'title');
    drawing?.setAttribute('aria-describedby', 'description');
    for (const box of tree.querySelectorAll<SVGGElement>('[data-node]')) {
        const place = places[box.dataset['node'] ?? ''];
        if (place !== undefined) {
            link(box, () => pointTo(place));
        }
    }
    return host;
}

function link(box: SVGGElement, follow: () => void): void {
    const rows = Array.from(box.querySelectorAll('text'), (row) => row.textContent);
    box.setAttribute('role', 'link');
    box.setAttribute('tabindex', '0');
    box.setAttribute('aria-label', rows.join(', '));
    box.addEventListener('click', follow);
    box.addEventListener('keydown', (event) => {
        if (event.key === 'Enter') {
            follow();
        }
    });
}
