/** Nothing the client waits for may keep it waiting forever: other extensions and interpreters can hang. */

export class TimeoutError extends Error {}

export async function within<T>(milliseconds: number, what: string, promise: PromiseLike<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const expired = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new TimeoutError(`${what}: no answer in ${milliseconds / 1000} s`)), milliseconds);
    });
    try {
        return await Promise.race([promise, expired]);
    } finally {
        clearTimeout(timer);
    }
}

export function messageOf(error: unknown): string {
    return error instanceof Error ? error.message : String(error);
}
