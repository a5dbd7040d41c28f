/** Words as HTML. */

export function escaped(text: string): string {
    return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Words without the backticks around code. */
export function plain(text: string): string {
    return text.replaceAll('`', '');
}
