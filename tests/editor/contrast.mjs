/** How much letters and signs stand out from what is behind them, as WCAG 2 measures it. */

/** A function of an element and of the colours of its page, as what runs in the page. */
export function inPage(measure) {
    return new Function('element', `return (${measure})(element, (${colours})());`);
}

/** Runs in the page. */
function colours() {
    const parts = (colour) => {
        const [red, green, blue, alpha = 1] = colour.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
        return { red, green, blue, alpha };
    };
    const over = (top, below) => {
        const mix = (name) => top[name] * top.alpha + below[name] * (1 - top.alpha);
        return { red: mix('red'), green: mix('green'), blue: mix('blue'), alpha: 1 };
    };
    const light = ({ red, green, blue }) => {
        const [r, g, b] = [red, green, blue].map((each) => each / 255).map((each) => (each <= 0.03928 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrastOf = (ink, behind) => {
        const [high, low] = [light(ink), light(behind)].sort((a, b) => b - a);
        return (high + 0.05) / (low + 0.05);
    };
    const probe = document.createElement('span');
    probe.style.color = 'var(--vscode-editor-background)';
    document.body.append(probe);
    const page = parts(getComputedStyle(probe).color);
    probe.remove();
    return { parts, over, contrastOf, page };
}
