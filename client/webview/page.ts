/**
 * Runs in the page of a picture: draws it with all but the hazard folded, fitted on the hazard; zooms and moves it; makes links of boxes and
 * of entries of the list, and listens to the extension.
 */

import { drawn } from './drawing';
import { folded, type Folded } from './fold';
import type { Picture } from './picture';
import { View } from './view';

declare function acquireVsCodeApi(): { postMessage(message: unknown): void };

const editor = acquireVsCodeApi();
const drawing = byId('drawing');
const view = new View(drawing);
const all: Picture = JSON.parse(byId('picture').textContent ?? '');
const showAll = byId('all');
/** The groups of boxes that are shown though they are no part of the hazard. */
const opened = new Set<number>();

/** The width of a letter in the drawing. */
function letter(): number {
    const pen = document.createElement('canvas').getContext('2d');
    if (pen !== null) {
        pen.font = getComputedStyle(drawing).font;
    }
    return pen?.measureText('mmmmmmmmmm').width ? pen.measureText('mmmmmmmmmm').width / 10 : 6.6;
}

function activated(element: Element, act: () => void): void {
    element.addEventListener('click', act);
    element.addEventListener('keydown', (event) => {
        if (event instanceof KeyboardEvent && (event.key === 'Enter' || event.key === ' ')) {
            event.preventDefault();
            act();
        }
    });
}

function link(element: Element): void {
    activated(element, () => editor.postMessage({ node: Number(element.getAttribute('data-place')) }));
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
    const now = folded(all, opened);
    drawing.innerHTML = await drawn(now.picture, letter());
    drawing.querySelectorAll('[data-node]').forEach(lightUp);
    drawing.querySelectorAll('[data-place]').forEach(link);
    drawing.querySelectorAll('[data-fold]').forEach((box) => activated(box, () => void open(Number(box.getAttribute('data-fold')))));
    offerAll(now);
}

/** Shows what is behind a box. */
async function open(number: number): Promise<void> {
    opened.add(number);
    await draw();
    const box = drawing.querySelector<SVGGElement>(`[data-node="${number}"]`);
    view.keep(box);
    box?.focus({ preventScroll: true });
}

/** The button that opens all, or folds it again. */
function offerAll({ members }: Folded): void {
    const hidden = [...members.values()].reduce((sum, group) => sum + group.length, 0);
    showAll.hidden = hidden === 0 && opened.size === 0;
    showAll.textContent = hidden > 0 ? `Show all ${all.nodes.length} boxes` : 'Fold what is not red';
    showAll.onclick = async () => {
        members.forEach((_, number) => opened.add(number));
        if (hidden === 0) {
            opened.clear();
        }
        await draw();
        view.fit();
    };
}

byId('again').addEventListener('click', () => editor.postMessage({ again: true }));
window.addEventListener('message', ({ data }) => byId('old').classList.toggle('shown', data.old));
document.querySelectorAll('[data-place]').forEach(link);
draw().then(() => view.fit()).catch((error: unknown) => {
    drawing.textContent = `This could not be drawn (${String(error)}); the list below says the same.`;
});
