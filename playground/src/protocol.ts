/** What the page asks of tapelint, and what it is told: see tools/playground/session.py. */

/** Offsets into the program, and the row in which the range begins. */
export interface Range {
    readonly from: number;
    readonly to: number;
    readonly row: number;
}

/** A step of a story. Without a place where it happens in code that is not shown. */
export interface Step extends Partial<Range> {
    readonly message: string;
}

export interface Finding extends Range {
    readonly code: string;
    readonly name: string;
    readonly severity: 'error' | 'warning' | 'information' | 'hint';
    readonly message: string;
    readonly details: readonly string[];
    readonly steps: readonly Step[];
    readonly raisedAt: Step | null;
    readonly isUnnecessary: boolean;
}

export interface Notice extends Range {
    readonly message: string;
}

export interface Checked {
    readonly findings: readonly Finding[];
    readonly notices: readonly Notice[];
    readonly seconds: number;
}

export interface Cure {
    readonly title: string;
    /** What it costs or changes besides, as a sentence; empty where there is nothing to say. */
    readonly effect: string;
    readonly edits: readonly (Range & { readonly insert: string })[];
}

export interface Cures {
    readonly cures: readonly Cure[];
    /** Why there is none. */
    readonly none: string;
}

export interface Hover extends Range {
    readonly markdown: string;
}

export interface Graph {
    readonly svg?: string;
    /** Where boxes of it stand in the program, by the `data-node` of the box. */
    readonly places?: Readonly<Record<string, Range>>;
    /** Why there is none. */
    readonly nothing?: string;
}

export interface Explanation {
    /** The exception; empty where the text has none. */
    readonly heading: string;
    readonly rules: readonly { readonly code: string; readonly name: string; readonly summary: string }[];
    /** Indices of findings. */
    readonly findings: readonly number[];
    readonly row: number | null;
    readonly nearness: 'RAISES_THERE' | 'PASSES_THERE' | 'BESIDE' | 'ELSEWHERE' | null;
}

export interface Example {
    readonly title: string;
    readonly text: string;
    /** The names of the rules whose findings it has. */
    readonly rules: readonly string[];
}

/** Each question: its arguments, and its answer. */
export interface Questions {
    check: [{ text: string }, Checked];
    cures: [{ finding: number }, Cures];
    hover: [{ at: number }, Hover | null];
    graph: [{ at: number }, Graph];
    explain: [{ traceback: string }, Explanation];
}

/** What the worker is sent: a question as JSON, under a number. */
export interface Asked {
    readonly number: number;
    readonly question: string;
}

/** What it sends: how far it has come, that it is ready, an answer as JSON, or that it failed for good. */
export type Told =
    | { readonly kind: 'loading'; readonly what: string }
    | { readonly kind: 'ready' }
    | { readonly kind: 'answer'; readonly number: number; readonly answer: string }
    | { readonly kind: 'failed'; readonly why: string };
