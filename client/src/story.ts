/**
 * Story mode: with the cursor in a finding, its steps are numbered in the gutter and told behind their lines, and keys
 * walk them, also into other files. The server knows the story; here it is drawn, until the cursor leaves it or the
 * text changes.
 */

import * as vscode from 'vscode';
import type { Middleware } from 'vscode-languageclient/node';
import { goTo, isIn, rangeOf, type Place } from './places';
import type { Server } from './server';
import { SECTION } from './settings';

const PAUSE = 120;
const IN_STORY = 'tapelint.inStory';

/** One step as the server tells it: `short` fits behind a line of code, `message` is a sentence. */
export interface Step extends Place {
    readonly number: number;
    readonly short: string;
    readonly message: string;
}

/** What the server answers to `tapelint.story`. */
export interface Story extends Place {
    readonly code: string;
    readonly message: string;
    readonly steps: readonly Step[];
}

/** What is drawn here needs no document highlights: those stay with the extensions that know of occurrences. */
export const withoutHighlights: Middleware = { provideDocumentHighlights: () => undefined };

export class Stories implements vscode.Disposable {
    private readonly registered: vscode.Disposable[];
    private readonly drawing = new Drawing();
    private timer: NodeJS.Timeout | undefined;
    private shown: Story | undefined;
    /** The step that the user has walked to, and is still at. */
    private walkedTo: Step | undefined;
    private asked = 0;

    constructor(private readonly server: Server) {
        const { window, workspace, commands, languages } = vscode;
        this.registered = [
            this.drawing,
            window.onDidChangeTextEditorSelection(({ textEditor }) => this.moved(textEditor)),
            window.onDidChangeActiveTextEditor((editor) => this.moved(editor)),
            window.onDidChangeVisibleTextEditors(() => this.drawing.draw(this.shown)),
            window.onDidChangeActiveColorTheme(() => this.drawing.renew(this.shown)),
            workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
                if (contentChanges.length > 0 && this.shown?.steps.some((step) => isIn(step, document))) {
                    this.show(undefined);
                }
            }),
            workspace.onDidChangeConfiguration((change) => {
                if (change.affectsConfiguration(`${SECTION}.storyMode`)) {
                    this.moved(window.activeTextEditor);
                }
            }),
            languages.onDidChangeDiagnostics(() => this.moved(window.activeTextEditor)),
            commands.registerCommand('tapelint.nextStep', () => this.walk(1)),
            commands.registerCommand('tapelint.previousStep', () => this.walk(-1)),
        ];
        this.moved(window.activeTextEditor);
    }

    dispose(): void {
        clearTimeout(this.timer);
        this.registered.forEach((each) => void each.dispose());
    }

    /** The cursor may be in another story now; asks once it rests. */
    private moved(editor: vscode.TextEditor | undefined): void {
        if (editor === undefined || editor !== vscode.window.activeTextEditor) {
            return;
        }
        clearTimeout(this.timer);
        this.timer = setTimeout(() => void this.follow(editor), PAUSE);
    }

    private async follow(editor: vscode.TextEditor): Promise<void> {
        const { document, selection } = editor;
        const position = selection.active;
        if (this.walkedTo !== undefined && this.shown !== undefined && isAt(this.walkedTo, document, position)) {
            return;
        }
        this.walkedTo = undefined;
        const question = ++this.asked;
        const { version } = document;
        const found = isOn(document) && isAnythingFound() ? await this.ask(document, position) : undefined;
        if (question === this.asked && version === document.version) {
            this.show(found ?? undefined);
        }
    }

    /** A server that stops in between has no story. */
    private async ask(document: vscode.TextDocument, position: vscode.Position): Promise<Story | null | undefined> {
        return this.server.story(document.uri.toString(), position).catch(() => undefined);
    }

    private show(story: Story | undefined): void {
        this.walkedTo = undefined;
        if (story === undefined && this.shown === undefined) {
            return;
        }
        this.shown = story;
        this.drawing.draw(story);
        void vscode.commands.executeCommand('setContext', IN_STORY, story !== undefined && story.steps.length > 0);
    }

    private async walk(by: 1 | -1): Promise<void> {
        const { steps = [] } = this.shown ?? {};
        const here = this.index(steps);
        const next = by > 0 ? (here + 1) % steps.length : here - 1;
        const step = steps.at(here < 0 && by < 0 ? -1 : next);
        if (step === undefined) {
            return;
        }
        this.walkedTo = step;
        await goTo(step);
        // Not the sentence: what does not fit into the status bar is cut off in the middle of a word.
        const told = `$(list-ordered) ${step.number} of ${steps.length}: ${step.short}`;
        vscode.window.setStatusBarMessage(told, 10_000);
    }

    /** The step at the cursor: the one walked to, else the last that is there; -1 if none is. */
    private index(steps: readonly Step[]): number {
        const editor = vscode.window.activeTextEditor;
        if (this.walkedTo !== undefined) {
            return steps.indexOf(this.walkedTo);
        }
        const here = steps.filter((step) => editor !== undefined && isAt(step, editor.document, editor.selection.active));
        const last = here.at(-1);
        return last === undefined ? -1 : steps.indexOf(last);
    }
}

/** The decorations of one story in all visible editors. */
class Drawing implements vscode.Disposable {
    private readonly numbers = new Map<string, vscode.TextEditorDecorationType>();
    private places = vscode.window.createTextEditorDecorationType(marks());

    draw(story: Story | undefined): void {
        for (const editor of vscode.window.visibleTextEditors) {
            const steps = story?.steps.filter((step) => isIn(step, editor.document)) ?? [];
            editor.setDecorations(this.places, steps.map(rangeOf));
            const drawn = new Map<string, vscode.DecorationOptions>();
            for (const line of new Set(steps.map(lineOf))) {
                const here = steps.filter((step) => lineOf(step) === line);
                const label = here.map(({ number }) => number).join(',');
                drawn.set(label, behind(editor.document, line, here));
                if (!this.numbers.has(label)) {
                    this.numbers.set(label, vscode.window.createTextEditorDecorationType(icons(label)));
                }
            }
            for (const [label, type] of this.numbers) {
                const options = drawn.get(label);
                editor.setDecorations(type, options === undefined ? [] : [options]);
            }
        }
    }

    /** The theme has changed: its icons are drawn anew. */
    renew(story: Story | undefined): void {
        this.dispose();
        this.numbers.clear();
        this.places = vscode.window.createTextEditorDecorationType(marks());
        this.draw(story);
    }

    dispose(): void {
        this.places.dispose();
        this.numbers.forEach((type) => type.dispose());
    }
}

/** What stands behind a line with some steps. */
function behind(document: vscode.TextDocument, line: number, steps: readonly Step[]): vscode.DecorationOptions {
    const { end } = document.lineAt(Math.min(line, document.lineCount - 1)).range;
    const hoverMessage = steps.map(({ number, message }) => `${number}. ${message}`);
    const contentText = steps.map(({ number, short }) => `${number} ${short}`).join(' · ');
    const color = new vscode.ThemeColor('editorCodeLens.foreground');
    return { range: new vscode.Range(end, end), hoverMessage, renderOptions: { after: { contentText, color, margin: '0 0 0 2em' } } };
}

/** How the places of the steps look. */
function marks(): vscode.DecorationRenderOptions {
    const { kind } = vscode.window.activeColorTheme;
    const contrast = kind === vscode.ColorThemeKind.HighContrast || kind === vscode.ColorThemeKind.HighContrastLight;
    return {
        ...(contrast
            ? { border: '1px dotted', borderColor: new vscode.ThemeColor('contrastActiveBorder') }
            : { backgroundColor: new vscode.ThemeColor('editor.wordHighlightTextBackground') }),
        overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.wordHighlightTextForeground'),
        overviewRulerLane: vscode.OverviewRulerLane.Center,
    };
}

function icons(label: string): vscode.DecorationRenderOptions {
    switch (vscode.window.activeColorTheme.kind) {
        case vscode.ColorThemeKind.HighContrast:
            return { gutterIconPath: icon(label, '#000000', '#ffffff', '#ffffff'), gutterIconSize: 'contain' };
        case vscode.ColorThemeKind.HighContrastLight:
            return { gutterIconPath: icon(label, '#ffffff', '#000000', '#000000'), gutterIconSize: 'contain' };
        default:
            return {
                light: { gutterIconPath: icon(label, '#0b5cad', '#ffffff', '#0b5cad') },
                dark: { gutterIconPath: icon(label, '#3794ff', '#0b1a2b', '#3794ff') },
                gutterIconSize: 'contain',
            };
    }
}

/** A disk with numbers, which become smaller the more there are. */
function icon(label: string, fill: string, ink: string, edge: string): vscode.Uri {
    const size = label.length === 1 ? 11 : label.length < 4 ? 8 : 6;
    const svg =
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" width="16" height="16">' +
        `<rect x="0.75" y="0.75" width="14.5" height="14.5" rx="7.25" fill="${fill}" stroke="${edge}" stroke-width="1"/>` +
        `<text x="8" y="8" dy="0.36em" text-anchor="middle" font-family="sans-serif" font-weight="bold" font-size="${size}" fill="${ink}">${label}</text>` +
        '</svg>';
    return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`);
}

function isOn(document: vscode.TextDocument): boolean {
    return document.languageId === 'python' && vscode.workspace.getConfiguration(SECTION, document).get('storyMode', true);
}

/** Whether there is any story to ask for. */
function isAnythingFound(): boolean {
    return vscode.languages.getDiagnostics().some(([, found]) => found.some(({ source }) => source === 'tapelint'));
}

function isAt(step: Place, document: vscode.TextDocument, position: vscode.Position): boolean {
    return isIn(step, document) && rangeOf(step).contains(position);
}

function lineOf(step: Place): number {
    return step.range.start.line;
}
