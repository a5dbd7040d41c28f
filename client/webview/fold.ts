/**
 * Folds what is not part of the hazard. In a column, boxes that hang together, or that lead to the same boxes of the hazard, become one
 * box, which opens them; of columns in a row that have nothing of the hazard, all do.
 */

import type { Picture, PictureEdge, PictureNode } from './picture';

/** So many letters of what is in a folded box are shown, and so many of its names. */
const LETTERS = 40;
const NAMES = 3;
/** The kind of a box that others are folded into. */
export const MORE = 'more';

type Group = readonly [PictureNode, ...PictureNode[]];

/** A picture of which something may be folded: `members` has the boxes behind a folded one, by its number. */
export interface Folded {
    readonly picture: Picture;
    readonly members: ReadonlyMap<number, Group>;
}

/** Folds all but the hazard and the groups that were `opened`; where nothing is marked, nothing is folded. */
export function folded(picture: Picture, opened: ReadonlySet<number>): Folded {
    const groups = picture.nodes.some(({ marked }) => marked) ? groupsOf(picture) : [];
    const closed = groups.filter(([first, ...rest]) => rest.length > 0 && !opened.has(first.number));
    const members = new Map(closed.map((group) => [group[0].number, group]));
    const boxes = new Map(closed.flatMap((group) => group.map(({ number }) => [number, group[0].number])));
    const into = (number: number) => boxes.get(number) ?? number;
    const nodes = picture.nodes.filter(({ number }) => into(number) === number);
    const columns = picture.columns.map((_, column) => column).filter((column) => nodes.some((node) => node.column === column));
    return {
        picture: {
            ...picture,
            columns: columns.map((column, index) => titleOf(picture.columns, column, (columns[index + 1] ?? picture.columns.length) - 1)),
            nodes: nodes.map((node) => ({ ...summary(node, members.get(node.number)), column: columns.indexOf(node.column) })),
            edges: merged(picture.edges, into, members),
        },
        members,
    };
}

function titleOf(titles: readonly string[], first: number, last: number): string {
    return first === last ? titles[first] ?? '' : `${titles[first]} … ${titles[last]}`;
}

function summary(node: PictureNode, members: Group | undefined): PictureNode {
    if (members === undefined) {
        return node;
    }
    const names = members.slice(0, NAMES).map(({ rows }) => rows[0] ?? '').join(', ');
    const said = members.length > NAMES ? `${names}, …` : names;
    const rows = [`${members.length} more`, said.length > LETTERS ? `${said.slice(0, LETTERS - 1)}…` : said];
    return { ...node, kind: MORE, rows, place: null, certain: true };
}

/** One arrow stands for all that lead from one box to another, where one of them is folded. */
function merged(edges: readonly PictureEdge[], into: (number: number) => number, members: Folded['members']): PictureEdge[] {
    const known = new Set<string>();
    return edges.flatMap((edge) => {
        const [from, to] = [into(edge.from), into(edge.to)];
        if (!members.has(from) && !members.has(to)) {
            return [edge];
        }
        const name = `${from} ${to}`;
        if (from === to || known.has(name)) {
            return [];
        }
        known.add(name);
        return [{ ...edge, from, to, label: '' }];
    });
}

/** The boxes that may be folded, in groups: each in the order of its numbers. */
function groupsOf({ nodes, edges, columns }: Picture): Group[] {
    const red = edges.filter(({ marked }) => marked).flatMap(({ from, to }) => [from, to]);
    const hazard = new Set([...red, ...nodes.filter(({ marked }) => marked).map(({ number }) => number)]);
    const others = nodes.filter(({ number }) => !hazard.has(number));
    /** The group of each of them, which is named by one of its boxes. */
    const group = new Map(others.map(({ number }) => [number, number]));
    const join = (one: number, other: number) => {
        const [kept, gone] = [group.get(one) ?? one, group.get(other)];
        group.forEach((found, number) => found === gone && group.set(number, kept));
    };
    const quiet = columns.map((_, column) => nodes.every((node) => node.column !== column || !hazard.has(node.number)));
    const column = new Map(others.map((node) => [node.number, quiet[node.column] ? quiet.lastIndexOf(false, node.column) - columns.length : node.column]));
    for (const { from, to } of edges) {
        if (column.has(from) && column.get(from) === column.get(to)) {
            join(from, to);
        }
    }
    const beside = new Map<string, number>();
    for (const { number } of others) {
        const [own, place] = [group.get(number), column.get(number) ?? 0];
        const near = edges.filter(({ from, to }) => group.get(from) === own || group.get(to) === own).flatMap(({ from, to }) => [from, to]);
        const ends = place < 0 ? [] : [...new Set(near.filter((end) => hazard.has(end)))].sort((one, other) => one - other);
        const name = `${place}: ${ends.join()}`;
        join(beside.get(name) ?? number, number);
        beside.set(name, number);
    }
    return [...new Set(group.values())].flatMap((name) => {
        const [first, ...rest] = others.filter(({ number }) => group.get(number) === name);
        return first === undefined ? [] : [[first, ...rest] as const];
    });
}
