/** What of a drawing is seen, and how large: fitted on the hazard, until the user zooms or moves it, by buttons, keys, wheel or pointer. */

const STEP = 1.25;
/** How small and how large a drawing may be; one that is fitted is read without a glass. */
const SMALLEST = 0.1;
const LARGEST = 4;
const FITTED = { least: 0.4, most: 1.25 };
/** In pixels: what stays free around what is fitted. */
const ROOM = 12;
const KEYS: Readonly<Record<string, string>> = { '+': 'larger', '=': 'larger', '-': 'smaller', '0': 'fit', '1': 'whole' };

export class View {
    private scale = 1;
    private isFitted = true;

    constructor(private readonly frame: HTMLElement) {
        const does: Readonly<Record<string, () => void>> = {
            larger: () => this.zoom(this.scale * STEP),
            smaller: () => this.zoom(this.scale / STEP),
            fit: () => this.fit(),
            whole: () => this.whole(),
        };
        for (const [id, act] of Object.entries(does)) {
            document.getElementById(id)?.addEventListener('click', act);
        }
        window.addEventListener('keydown', (event) => {
            const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : does[KEYS[event.key] ?? ''];
            if (act !== undefined) {
                event.preventDefault();
                act();
            }
        });
        frame.addEventListener('wheel', (event) => {
            if (event.ctrlKey || event.metaKey) {
                event.preventDefault();
                this.zoom(this.scale * Math.exp(-event.deltaY / 300), event);
            }
        }, { passive: false });
        frame.addEventListener('pointerdown', (event) => this.drag(event));
        new ResizeObserver(() => this.isFitted && this.fit()).observe(frame);
    }

    /** Shows the hazard as large as there is room for; all, where nothing belongs to a hazard. */
    fit(): void {
        const marked = [...this.frame.querySelectorAll<SVGGraphicsElement>('.hazard')].map((each) => each.getBBox());
        this.show(around(marked) ?? this.all(), FITTED.least);
        this.isFitted = true;
    }

    /** Shows the whole drawing. */
    whole(): void {
        this.show(this.all(), SMALLEST);
        this.isFitted = false;
    }

    /** The drawing was made anew, with a box that is to be seen; nothing else is moved or zoomed. */
    keep(box: SVGGraphicsElement | null): void {
        this.isFitted = false;
        this.resize();
        box?.scrollIntoView({ block: 'center', inline: 'center' });
    }

    private all(): DOMRect {
        const { width = 0, height = 0 } = this.svg?.viewBox.baseVal ?? {};
        return new DOMRect(0, 0, width, height);
    }

    private get svg(): SVGSVGElement | null {
        return this.frame.querySelector('svg');
    }

    private show({ x, y, width, height }: DOMRect, least: number): void {
        const { clientWidth, clientHeight } = this.frame;
        const fitting = Math.min((clientWidth - 2 * ROOM) / width, (clientHeight - 2 * ROOM) / height);
        this.scale = Math.min(Math.max(fitting, least), FITTED.most);
        this.resize();
        // What is too high begins at its top, where the story does.
        const below = Math.max(ROOM, (clientHeight - height * this.scale) / 2);
        this.frame.scrollTo((x + width / 2) * this.scale - clientWidth / 2, y * this.scale - below);
    }

    /** Zooms around a point of the window, or else around the middle of what is seen. */
    private zoom(scale: number, at?: { readonly clientX: number; readonly clientY: number }): void {
        this.isFitted = false;
        const { left, top } = this.frame.getBoundingClientRect();
        const x = at === undefined ? this.frame.clientWidth / 2 : at.clientX - left;
        const y = at === undefined ? this.frame.clientHeight / 2 : at.clientY - top;
        const [column, row] = [(this.frame.scrollLeft + x) / this.scale, (this.frame.scrollTop + y) / this.scale];
        this.scale = Math.min(Math.max(scale, SMALLEST), LARGEST);
        this.resize();
        this.frame.scrollTo(column * this.scale - x, row * this.scale - y);
    }

    private resize(): void {
        const { width, height } = this.all();
        this.svg?.setAttribute('width', `${width * this.scale}`);
        this.svg?.setAttribute('height', `${height * this.scale}`);
        this.frame.dataset['zoom'] = `${Math.round(this.scale * 100)}`;
    }

    /** Moves the drawing with the pointer, which has gone down between the boxes. */
    private drag({ target, button, pointerId, clientX, clientY }: PointerEvent): void {
        if (button !== 0 || !(target instanceof Element) || target.closest('[data-place], [data-fold]') !== null) {
            return;
        }
        const { scrollLeft, scrollTop } = this.frame;
        const move = (event: PointerEvent) => {
            this.isFitted = false;
            this.frame.scrollTo(scrollLeft + clientX - event.clientX, scrollTop + clientY - event.clientY);
        };
        this.frame.setPointerCapture(pointerId);
        this.frame.addEventListener('pointermove', move);
        this.frame.addEventListener('lostpointercapture', () => this.frame.removeEventListener('pointermove', move), { once: true });
    }
}

/** The least rectangle that has all of these in it. */
function around(boxes: readonly DOMRect[]): DOMRect | undefined {
    const [left, top] = [Math.min(...boxes.map(({ x }) => x)), Math.min(...boxes.map(({ y }) => y))];
    const [right, bottom] = [Math.max(...boxes.map(({ x, width }) => x + width)), Math.max(...boxes.map(({ y, height }) => y + height))];
    return boxes.length === 0 ? undefined : new DOMRect(left, top, right - left, bottom - top);
}
