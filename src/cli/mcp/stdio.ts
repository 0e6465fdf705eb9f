import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

/**
 * The protocol on stdin and stdout. A client that closes its end still gets the answers to what it has asked: what is under
 * way may be a write, and is not torn off.
 */
export class PatientStdio implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  readonly #input = new PassThrough();
  readonly #inner = new StdioServerTransport(this.#input, process.stdout);
  /** Requests without an answer. */
  readonly #open = new Set<string | number>();
  #answered: (() => void) | undefined;

  async start(): Promise<void> {
    this.#inner.onmessage = (message) => {
      this.#note(message);
      this.onmessage?.(message);
    };
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onclose = () => this.onclose?.();
    process.stdin.pipe(this.#input, { end: false });
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#inner.send(message);
    if ('method' in message || message.id === undefined) return;
    this.#open.delete(message.id);
    this.#answered?.();
  }

  close(): Promise<void> {
    process.stdin.unpipe(this.#input).pause();
    return this.#inner.close();
  }

  /** Waits until the client has closed its end and everything is answered, or the signal stops it. */
  async ended(signal: AbortSignal): Promise<void> {
    await once(process.stdin, 'end', { signal }).catch(() => undefined);
    // What came last is read by then.
    while (this.#input.readableLength > 0) await setImmediate();
    await setImmediate();
    while (this.#open.size > 0)
      await new Promise<void>((resolve) => {
        this.#answered = resolve;
      });
  }

  #note(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if ('id' in message) this.#open.add(message.id);
    // Nobody answers what was taken back.
    const { requestId } = message.params ?? {};
    if (message.method !== 'notifications/cancelled') return;
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
    this.#open.delete(requestId);
    this.#answered?.();
  }
}
