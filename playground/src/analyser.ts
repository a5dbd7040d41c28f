/** tapelint, as the page sees it: questions and promises. Where the worker fails, a new one takes its place. */

import type { Asked, Questions, Told } from './protocol';

/** A question that takes longer has failed. Without threads nothing can interrupt Python, so that the worker is ended. */
const PATIENCE = 60_000;

interface Waiting {
    readonly name: keyof Questions;
    readonly asked: Asked;
    readonly resolve: (answer: string) => void;
    readonly reject: (why: Error) => void;
    timer?: ReturnType<typeof setTimeout>;
}

export class Analyser {
    private worker: Worker;
    private isReady = false;
    /** Why the last worker ended, to be said while the next one loads. */
    private why = '';
    private count = 0;
    private readonly waiting = new Map<number, Waiting>();

    /**
     * `say` is told what happens before the first answer; '' once there is nothing to say any more. `again` is called when
     * a new worker starts, which knows nothing of what the last one was asked.
     */
    constructor(
        private readonly address: URL,
        private readonly say: (words: string) => void,
        private readonly again: () => void,
    ) {
        this.worker = this.started();
    }

    async ask<Name extends keyof Questions>(name: Name, given: Questions[Name][0]): Promise<Questions[Name][1]> {
        const answer = await new Promise<string>((resolve, reject) => {
            const asked = { number: this.count++, question: JSON.stringify({ ask: name, ...given }) };
            this.keep({ name, asked, resolve, reject });
        });
        return JSON.parse(answer) as Questions[Name][1];
    }

    private keep(waiting: Waiting): void {
        this.waiting.set(waiting.asked.number, waiting);
        this.post(waiting);
    }

    private post(waiting: Waiting): void {
        if (this.isReady) {
            waiting.timer = setTimeout(() => this.restart('it took longer than a minute'), PATIENCE);
            this.worker.postMessage(waiting.asked);
        }
    }

    private started(): Worker {
        const worker = new Worker(this.address, { type: 'module' });
        worker.addEventListener('message', ({ data }: MessageEvent<Told>) => this.hear(data));
        worker.addEventListener('error', (event) => this.hear({ kind: 'failed', why: event.message }));
        return worker;
    }

    private hear(told: Told): void {
        switch (told.kind) {
            case 'loading':
                this.say(`${this.why}${told.what} …`);
                break;
            case 'ready':
                this.isReady = true;
                this.why = '';
                this.say('');
                this.waiting.forEach((waiting) => this.post(waiting));
                break;
            case 'answer': {
                const waiting = this.waiting.get(told.number);
                this.waiting.delete(told.number);
                clearTimeout(waiting?.timer);
                waiting?.resolve(told.answer);
                break;
            }
            case 'failed':
                if (this.isReady) {
                    this.restart(told.why);
                } else {
                    this.say(`tapelint could not be loaded: ${told.why || 'is the page served by a web server?'} Reload the page to try again.`);
                    this.drop(told.why);
                }
        }
    }

    /**
     * Start anew. The worker answers in turn, so that the oldest question has ended it, and has failed. So have all that are
     * about a program that the new worker does not know; a program that waits to be checked is checked by the new one.
     */
    private restart(why: string): void {
        this.worker.terminate();
        this.isReady = false;
        this.why = `tapelint stopped (${why}) and is started again. `;
        const kept = [...this.waiting.values()].slice(1).filter(({ name }) => name === 'check');
        for (const { asked, timer } of kept) {
            clearTimeout(timer);
            this.waiting.delete(asked.number);
        }
        this.drop(why);
        kept.forEach((waiting) => this.keep(waiting));
        this.worker = this.started();
        this.again();
    }

    private drop(why: string): void {
        for (const waiting of this.waiting.values()) {
            clearTimeout(waiting.timer);
            waiting.reject(new Error(why));
        }
        this.waiting.clear();
    }
}
