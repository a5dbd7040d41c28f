/** A picture as the server sends it; see `server/tapelint/picture/forms.py`. */

export interface PictureNode {
    /** From 1, in the order of columns, and of time within a column. */
    readonly number: number;
    readonly kind: string;
    /** The text in its box. */
    readonly rows: readonly string[];
    readonly column: number;
    readonly place: unknown;
    readonly marked: boolean;
    readonly certain: boolean;
}

export interface PictureEdge {
    readonly from: number;
    readonly to: number;
    readonly relation: string;
    /** What is written beside it; nothing beside an input. */
    readonly label: string;
    readonly marked: boolean;
}

export interface Picture {
    readonly title: string;
    readonly columns: readonly string[];
    readonly nodes: readonly PictureNode[];
    readonly edges: readonly PictureEdge[];
    readonly notes: readonly string[];
}
