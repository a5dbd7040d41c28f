/** Runs in the page of a picture: draws it, makes links of boxes and entries of the list, and listens to the extension. */

import { drawn } from './drawing';
import type { Picture } from './picture';

declare function acquireVsCodeApi(): { postMessage(message: unknown): void };

const editor = acquireVsCodeApi();
const drawing = byId('drawing');

/** The width of a letter in the drawing. */
function letter(): number {
    const pen = document.createElement('canvas').getContext('2d');
    if (pen !== null) {
        pen.font = getComputedStyle(drawing).font;
    }
    return pen?.measureText('mmmmmmmmmm').width ? pen.measureText('mmmmmmmmmm').width / 10 : 6.6;
}

function link(element: Element): void {
    const go = () => editor.postMessage({ node: Number(element.getAttribute('data-place')) });
    element.addEventListener('click', go);
    element.addEventListener('keydown', (event) => {
        if (event instanceof KeyboardEvent && event.key === 'Enter') {
            go();
        }
    });
}

/** With the mouse or the focus on a box, its arrows stand out. */
function lightUp(box: Element): void {
    const number = box.getAttribute('data-node');
    const arrows = drawing.querySelectorAll(`[data-from="${number}"], [data-to="${number}"]`);
    const lit = (is: boolean) => () => arrows.forEach((arrow) => arrow.classList.toggle('lit', is));
    ['mouseenter', 'focus'].forEach((name) => box.addEventListener(name, lit(true)));
    ['mouseleave', 'blur'].forEach((name) => box.addEventListener(name, lit(false)));
}

function byId(id: string): HTMLElement {
    const element = document.getElementById(id);
    if (element === null) {
        throw new Error(`the page has no ${id}`);
    }
    return element;
}

async function draw(): Promise<void> {
    const picture: Picture = JSON.parse(byId('picture').textContent ?? '');
    drawing.innerHTML = await drawn(picture, letter());
    drawing.querySelectorAll('[data-node]').forEach(lightUp);
    drawing.querySelectorAll('[data-place]').forEach(link);
}

byId('again').addEventListener('click', () => editor.postMessage({ again: true }));
window.addEventListener('message', ({ data }) => byId('old').classList.toggle('shown', data.old));
document.querySelectorAll('[data-place]').forEach(link);
draw().catch((error: unknown) => {
    drawing.textContent = `This could not be drawn (${String(error)}); the list below says the same.`;
});
