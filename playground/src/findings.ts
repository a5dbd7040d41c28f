/** The list of what was found: each with its story, its cures, and its graph. */

import { button, element, inline } from './dom';
import type { Cure, Cures, Finding, Notice, Range, Step } from './protocol';

export interface Acts {
    pointTo(range: Range): void;
    apply(cure: Cure): void;
    draw(finding: Finding): void;
}

/** A finding on the page; `offer` fills in its cures. */
export interface Card {
    readonly element: HTMLElement;
    offer(cures: Cures): void;
}

export function card(finding: Finding, index: number, acts: Acts): Card {
    const title = `pg-finding-${index}`;
    const cures = element('div', { class: 'pg-cures' }, element('p', { class: 'pg-aside' }, 'Looking for cures …'));
    const steps = finding.steps.map((step) => element('li', {}, stepOf(step, acts)));
    const made = element(
        'article',
        { class: `pg-finding pg-${finding.severity}`, 'aria-labelledby': title, tabindex: '-1' },
        element('h3', { id: title }, element('span', { class: 'pg-severity' }, finding.severity), ' ', inline(finding.message)),
        element(
            'p',
            { class: 'pg-rule' },
            element('a', { href: `rules/${finding.code}.html` }, `${finding.code} ${finding.name}`),
            ' ',
            button(`line ${finding.row}`, () => acts.pointTo(finding), { class: 'pg-place' }),
        ),
        ...finding.details.map((words) => element('p', {}, inline(words))),
    );
    if (finding.raisedAt !== null) {
        made.append(element('p', {}, 'Raised at: ', stepOf(finding.raisedAt, acts)));
    }
    if (steps.length > 0) {
        made.append(element('h4', {}, 'What happens'), element('ol', { class: 'pg-story' }, ...steps));
    }
    made.append(element('h4', {}, 'Cures'), cures, button('Draw the graph', () => acts.draw(finding)));
    return {
        element: made,
        offer: (offered) => cures.replaceChildren(...offer(offered, acts)),
    };
}

function stepOf(step: Step, acts: Acts): HTMLElement {
    const { from, to, row } = step;
    if (from === undefined || to === undefined || row === undefined) {
        return inline(step.message);
    }
    const made = button(inline(step.message), () => acts.pointTo({ from, to, row }), { class: 'pg-step' });
    made.prepend(element('span', { class: 'pg-row' }, `line ${row}`), ' ');
    return made;
}

function offer(offered: Cures, acts: Acts): HTMLElement[] {
    const made: HTMLElement[] = offered.cures.map((cure) => {
        const does = button('Apply', () => acts.apply(cure), { 'aria-label': `Apply: ${cure.title}` });
        return element('p', { class: 'pg-cure' }, does, ' ', inline(cure.effect ? `${cure.title}. ${cure.effect}` : cure.title));
    });
    if (made.length > 0) {
        return made;
    }
    return [element('p', { class: 'pg-aside' }, inline(`No cure is known to help${offered.none ? `: ${offered.none}` : ''}.`))];
}

export function noticeOf(notice: Notice, acts: Acts): HTMLElement {
    return element(
        'p',
        { class: 'pg-notice' },
        button(`line ${notice.row}`, () => acts.pointTo(notice), { class: 'pg-place' }),
        ' ',
        inline(notice.message),
    );
}
