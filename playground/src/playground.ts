/** The playground: an editor, what tapelint finds in its text, and a field for a traceback. */

import { Analyser } from './analyser';
import { block, button, element, inline } from './dom';
import { Editor } from './editor';
import { type Card, card, noticeOf } from './findings';
import { picture } from './picture';
import './playground.css';
import type { Checked, Cures, Example, Explanation, Finding, Hover, Questions, Range } from './protocol';
import { fragmentOf, programIn } from './share';

const HERE = new URL('.', import.meta.url);
/** Milliseconds without a key press before a program is checked. */
const PAUSE = 250;
const FOUND = {
    RAISES_THERE: 'It is predicted at a line of the traceback:',
    PASSES_THERE: 'What leads to it passes through a line of the traceback:',
    BESIDE: 'What is found at the lines of the traceback is something else:',
    ELSEWHERE: 'Nothing is found at the lines of the traceback. The same error is predicted here:',
};

class Playground {
    private readonly status = element('p', { class: 'pg-status', role: 'status' });
    private readonly chosen = element('select');
    private readonly found = element('section', { class: 'pg-findings', 'aria-label': 'Findings' });
    private readonly here = element('section', { class: 'pg-here', 'aria-live': 'polite', hidden: '' });
    private readonly graph = element('section', { class: 'pg-graph', 'aria-label': 'Graph', tabindex: '0', hidden: '' });
    private readonly pasted = element('textarea', { rows: '6', spellcheck: 'false', id: 'pg-traceback' });
    private readonly cause = element('div', { class: 'pg-cause', 'aria-live': 'polite' });
    private readonly editor: Editor;
    private readonly analyser: Analyser;
    private cards: Card[] = [];
    private pause: ReturnType<typeof setTimeout> | undefined;
    private running: Promise<void> | undefined;
    private checked: string | undefined;
    /** The cures that ended tapelint. */
    private readonly fatal = new Set<string>();

    constructor(
        private readonly page: HTMLElement,
        private readonly examples: readonly Example[],
    ) {
        const frame = element('div', { class: 'pg-editor' });
        this.chosen.append(
            element('option', { value: '', hidden: '' }, 'Your own program'),
            ...examples.map((example, index) => element('option', { value: String(index) }, example.title)),
        );
        this.chosen.addEventListener('change', () => this.open(Number(this.chosen.value)));
        const tools = element(
            'div',
            { class: 'pg-tools' },
            element('label', {}, 'Example ', this.chosen),
            button('What is known at the cursor', () => void this.tellOf(this.editor.cursor), { title: 'Ctrl+I, ⌘I' }),
            button('Draw the graph at the cursor', () => void this.draw(this.editor.cursor)),
            button('Copy a link', () => void this.share()),
        );
        page.replaceChildren(
            tools,
            this.status,
            element('div', { class: 'pg-panes' }, frame, element('div', { class: 'pg-results' }, this.here, this.found)),
            this.graph,
            this.traceback(),
        );
        this.editor = new Editor(frame, () => this.changed(), (at) => this.hover(at), (at) => void this.tellOf(at));
        this.analyser = new Analyser(new URL('worker.js', HERE), (words) => this.say(words), () => this.startedAgain());
        window.addEventListener('hashchange', () => void this.openShared());
    }

    async begin(): Promise<void> {
        if (!(await this.openShared())) {
            this.open(0);
        }
    }

    private open(index: number): void {
        this.editor.replace(this.examples[index]?.text ?? '');
    }

    private async openShared(): Promise<boolean> {
        const program = await programIn(location.hash);
        if (program !== undefined && program !== this.editor.text) {
            this.editor.replace(program);
        }
        return program !== undefined;
    }

    private say(words: string): void {
        this.status.textContent = words;
    }

    private changed(): void {
        this.page.dataset['state'] = 'changed';
        this.checked = undefined;
        // An example that was edited is none: it can be chosen again.
        const shown = this.examples.findIndex(({ text }) => text === this.editor.text);
        this.chosen.value = shown < 0 ? '' : String(shown);
        this.graph.hidden = true;
        this.here.hidden = true;
        clearTimeout(this.pause);
        this.pause = setTimeout(() => void this.check(), PAUSE);
    }

    /** Check the text as it is; resolves once what is shown is about it. One check runs at a time. */
    private async check(): Promise<void> {
        while (this.checked !== this.editor.text) {
            this.running ??= this.checkOnce().finally(() => (this.running = undefined));
            await this.running;
        }
    }

    private async checkOnce(): Promise<void> {
        const text = this.editor.text;
        try {
            const checked = await this.analyser.ask('check', { text });
            if (text === this.editor.text) {
                this.checked = text;
                this.show(checked);
                void this.cure(text, checked.findings);
            }
        } catch (error) {
            this.checked = this.editor.text;
            this.found.replaceChildren(element('p', { class: 'pg-notice' }, `This program could not be analysed: ${error}`));
        }
    }

    private show({ findings, notices, seconds }: Checked): void {
        const acts = {
            pointTo: (range: Range) => this.pointTo(range),
            apply: this.editor.apply.bind(this.editor),
            draw: (finding: Finding) => void this.draw(finding.from),
        };
        this.cards = findings.map((finding, index) => card(finding, index, acts));
        const none = element('p', {}, 'Nothing was found in this program.');
        this.found.replaceChildren(
            ...notices.map((notice) => noticeOf(notice, acts)),
            ...(findings.length > 0 ? this.cards.map((each) => each.element) : [none]),
        );
        this.editor.show(findings);
        this.page.dataset['state'] = 'checked';
        const count = findings.length === 1 ? '1 finding' : `${findings.length || 'no'} findings`;
        this.say(`${count}, in ${seconds.toFixed(2)} s`);
    }

    /** Look for the cures of each finding, as long as the text stays. */
    private async cure(text: string, findings: readonly Finding[]): Promise<void> {
        const cards = this.cards;
        for (const index of findings.keys()) {
            if (text !== this.editor.text) {
                return;
            }
            cards[index]?.offer(await this.curesOf(text, index));
        }
    }

    /** The cures of a finding. Looking for them is not tried again where it ended tapelint. */
    private async curesOf(text: string, finding: number): Promise<Cures> {
        const asked = `${finding} ${text}`;
        if (!this.fatal.has(asked)) {
            try {
                return await this.analyser.ask('cures', { finding });
            } catch {
                this.fatal.add(asked);
            }
        }
        return { cures: [], none: 'tapelint stopped while it looked for them' };
    }

    /** An answer; null where tapelint stopped, which the analyser has said. */
    private async asked<Name extends keyof Questions>(name: Name, given: Questions[Name][0]): Promise<Questions[Name][1] | null> {
        try {
            return await this.analyser.ask(name, given);
        } catch {
            return null;
        }
    }

    /** A new tapelint knows of no program. What is being checked is checked by the new one, or has ended the last one. */
    private startedAgain(): void {
        if (this.running === undefined) {
            this.page.dataset['state'] = 'changed';
            this.checked = undefined;
            void this.check();
        }
    }

    private pointTo(range: Range): void {
        this.say(`line ${range.row}: ${this.editor.pointTo(range)}`);
    }

    /** What is known at an offset of the text that was checked; nothing while another is. */
    private async hover(at: number): Promise<Hover | null> {
        return this.checked === this.editor.text ? this.asked('hover', { at }) : null;
    }

    private async tellOf(at: number): Promise<void> {
        await this.check();
        const hover = await this.asked('hover', { at });
        this.here.replaceChildren(hover ? block(hover.markdown) : 'Nothing is known of what stands at the cursor.');
        this.here.hidden = false;
    }

    private async draw(at: number): Promise<void> {
        await this.check();
        const drawn = await this.asked('graph', { at });
        if (drawn === null) {
            return;
        }
        const { svg, nothing, places = {} } = drawn;
        const close = button('Close the graph', () => (this.graph.hidden = true), { class: 'pg-close' });
        const shown = svg === undefined ? ` There is nothing to draw: ${nothing}` : picture(svg, places, (range) => this.pointTo(range));
        this.graph.replaceChildren(close, shown);
        this.graph.hidden = false;
        this.graph.scrollIntoView({ block: 'nearest' });
        this.graph.focus({ preventScroll: true });
    }

    private async share(): Promise<void> {
        history.replaceState(null, '', await fragmentOf(this.editor.text));
        try {
            await navigator.clipboard.writeText(location.href);
            this.say('The link is on the clipboard. The program is in the link itself.');
        } catch {
            this.say('The link is in the address bar. The program is in the link itself.');
        }
    }

    private traceback(): HTMLElement {
        return element(
            'section',
            { class: 'pg-traceback' },
            element('label', { for: 'pg-traceback' }, 'A traceback of this program, to be explained'),
            this.pasted,
            button('Explain', () => void this.explain()),
            this.cause,
        );
    }

    private async explain(): Promise<void> {
        await this.check();
        const found = await this.asked('explain', { traceback: this.pasted.value });
        if (found !== null) {
            this.cause.replaceChildren(...this.explanation(found));
        }
    }

    private explanation({ heading, rules, findings, row, nearness }: Explanation): HTMLElement[] {
        if (!heading) {
            return [element('p', {}, 'This text has no traceback and no error message.')];
        }
        const made = [element('p', {}, element('strong', {}, heading), row === null ? '' : ` (line ${row})`)];
        if (nearness !== null) {
            const links = findings.map((index) => element('li', {}, this.linkTo(index)));
            return [...made, element('p', {}, FOUND[nearness]), element('ul', {}, ...links)];
        }
        if (rules.length === 0) {
            return [...made, element('p', {}, 'No rule of tapelint predicts this message.')];
        }
        const reasons = rules.map((rule) => {
            const link = element('a', { href: `rules/${rule.code}.html` }, `${rule.code} ${rule.name}`);
            return element('li', {}, link, ': ', inline(rule.summary));
        });
        return [...made, element('p', {}, 'The cause is not seen in this program. PyTorch raises it where'), element('ul', {}, ...reasons)];
    }

    private linkTo(index: number): HTMLElement {
        const shown = this.cards[index]?.element;
        const title = shown?.querySelector('h3')?.textContent ?? '';
        return button(title, () => {
            shown?.scrollIntoView({ block: 'nearest' });
            shown?.focus({ preventScroll: true });
        });
    }
}

async function begin(page: HTMLElement): Promise<void> {
    const response = await fetch(new URL('examples.json', HERE));
    await new Playground(page, (await response.json()) as Example[]).begin();
}

const page = document.getElementById('tapelint-playground');
if (page !== null) {
    begin(page).catch((error: unknown) => page.replaceChildren(`The playground could not be loaded: ${error}`));
}
