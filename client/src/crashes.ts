/** Decides whether a server that ended by itself is started again. */

const WINDOW = 3 * 60_000;
const LIMIT = 5;

export class Crashes {
    private times: number[] = [];

    /** Notes a crash; answers how many milliseconds to wait before the next start, or undefined: give up. */
    add(now = Date.now()): number | undefined {
        this.times = [...this.times.filter((time) => now - time < WINDOW), now];
        return this.times.length < LIMIT ? 250 * 2 ** this.times.length : undefined;
    }

    forget(): void {
        this.times = [];
    }

    static readonly limit = `${LIMIT} times in ${WINDOW / 60_000} minutes`;
}
