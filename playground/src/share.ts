/** A program in the fragment of an address: compressed, in the letters that addresses may have. No server sees it. */

const KEY = '#program=';

export async function fragmentOf(program: string): Promise<string> {
    const bytes = await through(new TextEncoder().encode(program), new CompressionStream('deflate-raw'));
    const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
    return KEY + letters.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** The program in a fragment; undefined where there is none that can be read. */
export async function programIn(fragment: string): Promise<string | undefined> {
    if (!fragment.startsWith(KEY)) {
        return undefined;
    }
    try {
        const letters = atob(fragment.slice(KEY.length).replaceAll('-', '+').replaceAll('_', '/'));
        const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
        return new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw')));
    } catch {
        return undefined;
    }
}

async function through(bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream): Promise<Uint8Array> {
    const result = new Blob([bytes]).stream().pipeThrough(stream);
    return new Uint8Array(await new Response(result).arrayBuffer());
}
