/** The editor: Python with squiggles, hovers, and one range that a story points to. */

import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { python } from '@codemirror/lang-python';
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { EditorState, StateEffect, StateField } from '@codemirror/state';
import {
    Decoration,
    type DecorationSet,
    drawSelection,
    EditorView,
    highlightActiveLine,
    hoverTooltip,
    keymap,
    lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { block, inline } from './dom';
import type { Cure, Finding, Hover, Range } from './protocol';

// The site's own colours of code, so that light and dark are the site's.
const COLOURS = HighlightStyle.define([
    { tag: tags.keyword, color: 'var(--md-code-hl-keyword-color)' },
    { tag: [tags.string, tags.special(tags.string)], color: 'var(--md-code-hl-string-color)' },
    { tag: tags.comment, color: 'var(--md-code-hl-comment-color)', fontStyle: 'italic' },
    { tag: [tags.number, tags.bool, tags.null], color: 'var(--md-code-hl-number-color)' },
    { tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className)], color: 'var(--md-code-hl-function-color)' },
    { tag: tags.operator, color: 'var(--md-code-hl-operator-color)' },
]);

const point = StateEffect.define<Range | undefined>();
const pointed = StateField.define<DecorationSet>({
    create: () => Decoration.none,
    update(marks, transaction) {
        for (const effect of transaction.effects) {
            if (effect.is(point)) {
                return effect.value === undefined || effect.value.from === effect.value.to
                    ? Decoration.none
                    : Decoration.set(Decoration.mark({ class: 'pg-pointed' }).range(effect.value.from, effect.value.to));
            }
        }
        return marks.map(transaction.changes);
    },
    provide: (field) => EditorView.decorations.from(field),
});

export class Editor {
    private readonly view: EditorView;
    private isUnread = true;

    constructor(
        parent: HTMLElement,
        onChange: () => void,
        hover: (at: number) => Promise<Hover | null>,
        here: (at: number) => void,
    ) {
        const tooltip = hoverTooltip(async (_, at) => {
            const found = await hover(at);
            return found && { pos: found.from, end: found.to, above: true, create: () => ({ dom: block(found.markdown) }) };
        });
        this.view = new EditorView({
            parent,
            extensions: [
                lineNumbers(),
                history(),
                drawSelection(),
                highlightActiveLine(),
                indentUnit.of('    '),
                indentOnInput(),
                bracketMatching(),
                python(),
                syntaxHighlighting(COLOURS),
                lintGutter(),
                tooltip,
                pointed,
                keymap.of([
                    { key: 'Mod-i', run: (view) => (here(view.state.selection.main.head), true) },
                    ...lintKeymap,
                    ...historyKeymap,
                    ...defaultKeymap,
                ]),
                EditorState.tabSize.of(4),
                EditorState.phrases.of({ Diagnostics: 'Findings', 'No diagnostics': 'No findings' }),
                EditorView.contentAttributes.of({ 'aria-label': 'Program' }),
                EditorView.updateListener.of((update) => {
                    if (update.docChanged) {
                        onChange();
                    }
                }),
            ],
        });
    }

    get text(): string {
        return this.view.state.doc.toString();
    }

    get cursor(): number {
        return this.view.state.selection.main.head;
    }

    replace(text: string): void {
        this.isUnread = true;
        this.view.dispatch({
            changes: { from: 0, to: this.view.state.doc.length, insert: text },
            selection: { anchor: 0 },
            effects: [point.of(undefined), EditorView.scrollIntoView(0)],
        });
    }

    /** Show findings; of a program that nobody has looked at yet the first one comes into view. */
    show(findings: readonly Finding[]): void {
        const length = this.view.state.doc.length;
        const shown = findings.map((finding): Diagnostic => ({
            from: Math.min(finding.from, length),
            to: Math.min(finding.to, length),
            severity: finding.severity === 'information' ? 'info' : finding.severity,
            source: `${finding.code} ${finding.name}`,
            message: finding.message,
            renderMessage: () => inline(finding.message),
            ...(finding.isUnnecessary ? { markClass: 'pg-unnecessary' } : {}),
        }));
        this.view.dispatch(setDiagnostics(this.view.state, shown));
        const first = shown[0];
        if (this.isUnread && first !== undefined) {
            this.view.dispatch({ effects: EditorView.scrollIntoView(first.from, { y: 'nearest', yMargin: 48 }) });
        }
        this.isUnread = false;
    }

    /** Show a range without taking the focus from what points to it; its first row, to be read out. */
    pointTo(range: Range): string {
        this.view.dispatch({
            effects: [point.of(range), EditorView.scrollIntoView(range.from, { y: 'center' })],
        });
        this.view.dom.scrollIntoView({ block: 'nearest' });
        return this.view.state.doc.lineAt(Math.min(range.from, this.view.state.doc.length)).text.trim();
    }

    apply(cure: Cure): void {
        this.view.dispatch({ changes: cure.edits.map(({ from, to, insert }) => ({ from, to, insert })) });
        this.view.focus();
    }
}
