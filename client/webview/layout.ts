/**
 * Where the boxes and arrows of a picture go. Time runs down: each column of the picture (an iteration) is a band, below the one before,
 * and in a band what leads to something is above it. ELK routes the arrows around the boxes.
 */

import Elk, { type ElkExtendedEdge, type ElkNode, type ElkPort } from 'elkjs/lib/elk.bundled.js';
import type { Picture, PictureEdge, PictureNode } from './picture';

/** In pixels: the height of a row of text; the room inside a box, around the drawing, for the title of a band. */
export const ROW = 15;
export const PAD = 9;
const MARGIN = 16;
const TITLE = 30;
const LABEL = 12;
/** What happens at a moment: boxes of these kinds are below each other in the order in which that was. */
const MOMENTS = new Set(['write', 'step', 'pass', 'cut', 'clear', 'clip', 'moment']);
const OPTIONS = {
    'elk.algorithm': 'layered',
    'elk.direction': 'DOWN',
    'elk.edgeRouting': 'ORTHOGONAL',
    'elk.partitioning.activate': 'true',
    'elk.separateConnectedComponents': 'false', // else what hangs together with nothing stands in another band
    'elk.padding': `[top=${MARGIN},left=${MARGIN},bottom=${MARGIN},right=${MARGIN}]`,
    'elk.layered.considerModelOrder.strategy': 'PREFER_NODES',
    'elk.layered.nodePlacement.strategy': 'LINEAR_SEGMENTS', // the narrowest: a picture stands beside text
    'elk.spacing.nodeNode': '18',
    'elk.spacing.edgeNode': '10',
    'elk.spacing.edgeEdge': '7',
    'elk.spacing.portPort': '9',
    'elk.layered.spacing.nodeNodeBetweenLayers': '24',
    'elk.layered.spacing.edgeNodeBetweenLayers': '10',
    'elk.layered.spacing.edgeEdgeBetweenLayers': '7',
};

export interface Point {
    readonly x: number;
    readonly y: number;
}

export interface Box extends Point {
    readonly node: PictureNode;
    readonly width: number;
    readonly height: number;
}

export interface Route {
    readonly edge: PictureEdge;
    /** From its first box to its second one. */
    readonly points: readonly Point[];
    /** The lower left corner of its label, where it has one of its own. */
    readonly label: Point | undefined;
}

export interface Band {
    readonly title: string;
    readonly y: number;
    readonly height: number;
}

export interface Layout {
    readonly boxes: readonly Box[];
    readonly routes: readonly Route[];
    readonly bands: readonly Band[];
    readonly width: number;
    readonly height: number;
}

/** `letter` is the width of a letter in pixels: all are as wide as each other. */
export async function laidOut(picture: Picture, letter: number): Promise<Layout> {
    const placed = await new Elk().layout(graphOf(picture, letter));
    const boxes = picture.nodes.map((node, index): Box => {
        const { x = 0, y = 0, width = 0, height = 0 } = placed.children?.[index] ?? {};
        return { node, x, y, width, height };
    });
    const tops = picture.columns.map((_, column) => Math.min(...boxes.filter(({ node }) => node.column === column).map(({ y }) => y)) - 1);
    /** Makes room for the titles above a point. */
    const lowered = <P extends Point>(point: P): P => ({ ...point, y: point.y + TITLE * tops.filter((top) => top <= point.y).length });
    const routes = picture.edges.map((edge, index): Route => {
        const { sections = [], labels = [] } = placed.edges?.[index] ?? {};
        const points = sections.flatMap(({ startPoint, bendPoints = [], endPoint }) => [startPoint, ...bendPoints, endPoint]).map(lowered);
        const [label] = labels;
        return {
            edge,
            points: edge.from < edge.to ? points : points.reverse(),
            label: label && lowered({ x: label.x ?? 0, y: (label.y ?? 0) + LABEL - 3 }),
        };
    });
    const height = (placed.height ?? 0) + TITLE * tops.length;
    const begins = tops.map((top, column) => top + 1 + TITLE * column);
    const bands = picture.columns.map((title, column) => {
        const y = begins[column] ?? 0;
        return { title, y, height: (begins[column + 1] ?? height) - y - 4 };
    });
    const width = Math.max(placed.width ?? 0, ...picture.columns.map((title) => title.length * letter + 2 * MARGIN));
    return { boxes: boxes.map(lowered), routes, bands, width, height };
}

/** All arrows lead down here; those to the past are turned round when they are drawn. */
function graphOf(picture: Picture, letter: number): ElkNode {
    const ports = new Map(picture.nodes.map(({ number }) => [number, new Map<string, ElkPort>()]));
    const port = (node: number, side: 'NORTH' | 'SOUTH', name: string) => {
        const id = `${node} ${side} ${name}`;
        const known = ports.get(node)?.has(id) ?? false;
        ports.get(node)?.set(id, { id, layoutOptions: { 'elk.port.side': side } });
        return { id, known };
    };
    const edges = picture.edges.map((edge, index): ElkExtendedEdge => {
        const isDown = edge.from < edge.to;
        // Arrows of one kind leave a box together, and arrive one by one: so each can be followed.
        const begin = port(edge.from, isDown ? 'SOUTH' : 'NORTH', `${edge.relation} ${edge.marked}`);
        const end = port(edge.to, isDown ? 'NORTH' : 'SOUTH', `of ${index}`);
        const label = { text: edge.label, width: edge.label.length * letter, height: LABEL };
        return {
            id: `edge ${index}`,
            sources: [isDown ? begin.id : end.id],
            targets: [isDown ? end.id : begin.id],
            labels: edge.label === '' || begin.known ? [] : [{ ...label, layoutOptions: { 'elk.edgeLabels.placement': isDown ? 'TAIL' : 'HEAD' } }],
        };
    });
    return {
        id: 'picture',
        layoutOptions: OPTIONS,
        children: picture.nodes.map(({ number, rows, column }) => ({
            id: `${number}`,
            width: Math.max(...rows.map((row) => row.length)) * letter + 2 * PAD,
            height: rows.length * ROW + 2 * PAD,
            ports: [...(ports.get(number)?.values() ?? [])],
            layoutOptions: { 'elk.partitioning.partition': `${column}`, 'elk.portConstraints': 'FIXED_SIDE' },
        })),
        edges: [...edges, ...inTime(picture)],
    };
}

/** Edges that are not drawn, from each moment of a column to the next. */
function inTime({ nodes }: Picture): ElkExtendedEdge[] {
    const moments = nodes.filter(({ kind }) => MOMENTS.has(kind));
    return moments.slice(1).flatMap((node, index) => {
        const before = moments[index];
        const isSame = before?.column === node.column;
        return isSame ? [{ id: `time ${node.number}`, sources: [`${before.number}`], targets: [`${node.number}`] }] : [];
    });
}
