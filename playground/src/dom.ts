/** Elements, and tapelint's Markdown in them. */

import MarkdownIt from 'markdown-it';

type Child = Node | string;

/** An element with attributes and children. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
    tag: Tag,
    attributes: Record<string, string> = {},
    ...children: Child[]
): HTMLElementTagNameMap[Tag] {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
}

export function button(words: Child, does: () => void, attributes: Record<string, string> = {}): HTMLButtonElement {
    const made = element('button', { type: 'button', ...attributes }, words);
    made.addEventListener('click', does);
    return made;
}

// HTML in the text stays text: it may come from the program.
const markdown = new MarkdownIt({ html: false, linkify: false });

/** A message of one line with its `code`. */
export function inline(words: string): HTMLSpanElement {
    const made = element('span');
    made.innerHTML = markdown.renderInline(words);
    return made;
}

export function block(words: string): HTMLDivElement {
    const made = element('div', { class: 'pg-markdown' });
    made.innerHTML = markdown.render(words);
    return made;
}
