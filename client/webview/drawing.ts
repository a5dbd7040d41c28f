/** A picture as SVG. The colours are those of the page; a box with a place is a link, which carries its number. */

import { escaped, plain } from '../src/html';
import { MORE } from './fold';
import { laidOut, PAD, ROW, type Box, type Layout, type Route } from './layout';
import type { Picture } from './picture';

const ROUND: Readonly<Record<string, number>> = { more: 14, leaf: 14, tensor: 14, grad: 14, saved: 0, write: 0, step: 0, clear: 0, clip: 0, holder: 0 };

/** `letter` is the width of a letter in pixels. */
export async function drawn(picture: Picture, letter: number): Promise<string> {
    const layout = await laidOut(picture, letter);
    const { width, height } = layout;
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="group">
<defs>${tip('tip')}${tip('bad-tip')}</defs>${bands(layout)}${layout.routes.map(arrow).join('')}${titles(layout)}${layout.boxes.map(box).join('')}
</svg>`;
}

function tip(name: string): string {
    return `<marker id="${name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse"
 orient="auto"><path class="${name}" d="M0 0L8 4L0 8z"/></marker>`;
}

function bands({ bands, width }: Layout): string {
    return bands.map(({ y, height }) => `<rect class="lane" x="0" y="${y}" width="${width}" height="${height}" rx="6"/>`).join('');
}

function titles({ bands }: Layout): string {
    return bands.map(({ title, y }) => `<text class="first named" x="${PAD}" y="${y + ROW + 3}">${escaped(plain(title))}</text>`).join('');
}

function arrow({ edge, points, label }: Route): string {
    const style = `edge${edge.relation === 'input' ? '' : ' does'}${edge.marked ? ' hazard' : ''}`;
    const path = points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L');
    const words = label && `<text class="label named" x="${label.x.toFixed(1)}" y="${label.y.toFixed(1)}">${escaped(edge.label)}</text>`;
    return `<path class="${style}" data-from="${edge.from}" data-to="${edge.to}" marker-end="url(#${edge.marked ? 'bad-tip' : 'tip'})" d="M${path}"/>${words ?? ''}`;
}

function box({ node, x, y, width, height }: Box): string {
    const style = `box${node.marked ? ' hazard' : ''}${node.certain ? '' : ' perhaps'}`;
    const opens = node.kind === MORE ? ` data-fold="${node.number}" tabindex="0" role="button" aria-expanded="false"` : '';
    const link = node.place === null ? opens : ` data-place="${node.number}" tabindex="0" role="link"`;
    const rows = node.rows.map((row, index) => {
        const strong = index === 0 ? ' class="first"' : '';
        return `<text${strong} x="${(x + PAD).toFixed(1)}" y="${(y + PAD + ROW * (index + 0.75)).toFixed(1)}">${escaped(row)}</text>`;
    });
    return `<g data-kind="${node.kind}" data-node="${node.number}"${link}><title>${escaped(node.rows[0] ?? '')}</title>
<rect class="${style}" x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${width.toFixed(1)}" height="${height.toFixed(1)}" rx="${ROUND[node.kind] ?? 4}"/>${rows.join('')}</g>`;
}
