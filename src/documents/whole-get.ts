import { Agent, type Dispatcher } from 'undici';
import { Slabs, type Whole } from './slabs.ts';

/*
 * A small object takes Node's own HTTP client three times as much of a processor as undici, whose bytes are copied to
 * where they are needed. Taken is only the plainest of replies: 200 with its length; whoever asked sees to all others by
 * other means, on connections of their own.
 */

/** Longer objects are streamed: of those that come in one piece many are in memory at once. */
export const SMALL = 512 * 1024;

/** Where the requests go. */
export interface Address {
  secure: boolean;
  hostname: string;
  port: number | undefined;
}

export interface WholeReply {
  headers: Record<string, string>;
  whole: Whole;
}

/** `large` where the object is better streamed; undefined where no plain success came. */
export type WholeAnswer = WholeReply | 'large' | undefined;

/** GETs of small objects over connections that are kept open between them. */
export class WholeGets {
  private readonly origin: string;
  private readonly agent: Agent;
  private readonly slabs = new Slabs();

  constructor({ secure, hostname, port }: Address, timeoutMs: number) {
    const host = hostname.includes(':') ? `[${hostname}]` : hostname;
    this.origin = `${secure ? 'https' : 'http'}://${host}${port === undefined ? '' : `:${port}`}`;
    const connect = { timeout: timeoutMs };
    this.agent = new Agent({ connect, headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  }

  get(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<WholeAnswer> {
    if (signal?.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const taking = new Taking(this.slabs, signal, resolve);
      this.agent.dispatch({ origin: this.origin, path, method: 'GET', headers: { ...headers } }, taking);
    });
  }

  close(): void {
    void this.agent.destroy();
  }
}

/** One reply on its way into memory. */
class Taking implements Dispatcher.DispatchHandler {
  private readonly slabs: Slabs;
  private readonly signal: AbortSignal | undefined;
  private readonly resolve: (answer: WholeAnswer) => void;
  private giveUp: (() => void) | undefined;
  private headers: Record<string, string> = {};
  private whole: Whole | undefined;
  private filled = 0;
  private isLarge = false;

  constructor(slabs: Slabs, signal: AbortSignal | undefined, resolve: (answer: WholeAnswer) => void) {
    this.slabs = slabs;
    this.signal = signal;
    this.resolve = resolve;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.giveUp = () => controller.abort(new Error('given up'));
    this.signal?.addEventListener('abort', this.giveUp, { once: true });
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    const length = plainLength(status, headers);
    this.isLarge = length !== undefined && length > SMALL;
    if (length === undefined || this.isLarge) {
      controller.abort(new Error('left to others'));
      return;
    }
    this.headers = oneEach(headers);
    this.whole = this.slabs.take(length);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.whole?.bytes.set(chunk, this.filled);
    this.filled += chunk.byteLength;
  }

  onResponseEnd(): void {
    const { headers, whole } = this;
    this.end(whole && this.filled === whole.bytes.byteLength ? { headers, whole } : undefined);
  }

  onResponseError(): void {
    this.whole?.release();
    this.end(this.isLarge ? 'large' : undefined);
  }

  private end(answer: WholeAnswer): void {
    if (this.giveUp) this.signal?.removeEventListener('abort', this.giveUp);
    this.resolve(answer);
  }
}

/** How long the body of a 200 is that comes as it is; undefined for all other replies. */
function plainLength(
  status: number,
  headers: Record<string, string | string[] | undefined>,
): number | undefined {
  const length = headers['content-length'];
  if (status !== 200 || typeof length !== 'string' || !/^\d{1,15}$/.test(length)) return undefined;
  return headers['content-encoding'] === undefined ? Number(length) : undefined;
}

function oneEach(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const one: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) one[name] = typeof value === 'string' ? value : value.join(', ');
  return one;
}
