/** tapelint, as the page sees it: questions and promises. Where the worker fails, a new one takes its place. */

import type { Asked, Questions, Told } from './protocol';

/** A question that takes longer has failed. Without threads nothing can interrupt Python, so that the worker is ended. */
const PATIENCE = 60_000;

interface Waiting {
    readonly asked: Asked;
    readonly resolve: (answer: string) => void;
    readonly reject: (why: Error) => void;
    timer?: ReturnType<typeof setTimeout>;
}

export class Analyser {
    private worker: Worker;
    private isReady = false;
    private count = 0;
    private readonly waiting = new Map<number, Waiting>();

    /** `say` is told what happens before the first answer; '' once there is nothing to say any more. */
    constructor(
        private readonly address: URL,
        private readonly say: (words: string) => void,
    ) {
        this.worker = this.started();
    }

    async ask<Name extends keyof Questions>(name: Name, given: Questions[Name][0]): Promise<Questions[Name][1]> {
        const answer = await new Promise<string>((resolve, reject) => {
            const asked = { number: this.count++, question: JSON.stringify({ ask: name, ...given }) };
            const waiting = { asked, resolve, reject };
            this.waiting.set(asked.number, waiting);
            this.post(waiting);
        });
        return JSON.parse(answer) as Questions[Name][1];
    }

    private post(waiting: Waiting): void {
        if (this.isReady) {
            waiting.timer = setTimeout(() => this.again('It took longer than a minute'), PATIENCE);
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
                this.say(`${told.what} …`);
                break;
            case 'ready':
                this.isReady = true;
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
                    this.again(told.why);
                } else {
                    this.say(`tapelint could not be loaded: ${told.why || 'is the page served by a web server?'}`);
                    this.drop(told.why);
                }
        }
    }

    /** Start anew: all that was asked has failed. */
    private again(why: string): void {
        this.worker.terminate();
        this.isReady = false;
        this.drop(why);
        this.worker = this.started();
    }

    private drop(why: string): void {
        for (const waiting of this.waiting.values()) {
            clearTimeout(waiting.timer);
            waiting.reject(new Error(why));
        }
        this.waiting.clear();
    }
}
