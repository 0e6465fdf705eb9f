import { isIP, type OnReadOpts, connect as plainConnect, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { Slabs, type Whole } from './slabs.ts';

/*
 * A small object takes Node's HTTP client four times as much of a processor as reading its bytes from a socket does.
 * Here the bytes go straight to where they are needed. Understood is only the plainest of replies: 200 with its
 * length; whoever asked sees to all others by other means, on connections of their own.
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

/** GETs of small objects, one at a time on each connection, which are kept open between them. */
export class WholeGets {
  private readonly address: Address;
  private readonly timeoutMs: number;
  private readonly slabs = new Slabs();
  private readonly lines = new Set<Line>();
  private readonly idle: Line[] = [];

  constructor(address: Address, timeoutMs: number) {
    this.address = address;
    this.timeoutMs = timeoutMs;
  }

  async get(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<WholeAnswer> {
    const request = requestText(path, headers);
    if (request === undefined || signal?.aborted) return undefined;
    const line = this.idle.pop() ?? this.open();
    const giveUp = () => line.end();
    signal?.addEventListener('abort', giveUp, { once: true });
    try {
      return await line.ask(request);
    } finally {
      signal?.removeEventListener('abort', giveUp);
      if (line.isOpen) this.idle.push(line);
    }
  }

  private open(): Line {
    const line: Line = new Line(
      (onread) => connect(this.address, onread),
      this.slabs,
      this.timeoutMs,
      () => {
        this.lines.delete(line);
        const at = this.idle.indexOf(line);
        if (at >= 0) this.idle.splice(at, 1);
      },
    );
    this.lines.add(line);
    return line;
  }

  close(): void {
    for (const line of this.lines) line.end();
  }
}

function connect({ secure, hostname, port }: Address, onread: OnReadOpts): Socket {
  if (!secure) return plainConnect({ host: hostname, port: port ?? 80, noDelay: true, onread });
  const servername = isIP(hostname) === 0 ? hostname : '';
  // As net.connect has it; the types of tls.connect do not know it.
  const options = { host: hostname, port: port ?? 443, servername, ALPNProtocols: ['http/1.1'], onread };
  return tlsConnect(options);
}

/** Undefined where a header can't be sent as it is. */
function requestText(path: string, headers: Readonly<Record<string, string>>): string | undefined {
  let text = `GET ${path} HTTP/1.1\r\n`;
  for (const [name, value] of Object.entries(headers)) text += `${name}: ${value}\r\n`;
  return /^[\x20-\x7e\r\n]*$/.test(text) && text.split('\r\n').length === Object.keys(headers).length + 2
    ? `${text}\r\n`
    : undefined;
}

const LONGEST_HEAD = 16 * 1024;

/** One connection, with one request at a time. */
class Line {
  isOpen = true;
  private readonly socket: Socket;
  private readonly slabs: Slabs;
  private readonly head = Buffer.allocUnsafeSlow(LONGEST_HEAD);
  private headBytes = 0;
  private headers: Record<string, string> = {};
  private whole: Whole | undefined;
  private filled = 0;
  private settle: ((answer: WholeAnswer) => void) | undefined;

  constructor(
    connect: (onread: OnReadOpts) => Socket,
    slabs: Slabs,
    timeoutMs: number,
    onClosed: () => void,
  ) {
    this.slabs = slabs;
    this.socket = connect({ buffer: () => this.room(), callback: (bytes) => this.take(bytes) });
    this.socket.setTimeout(timeoutMs, () => this.end());
    // What goes wrong is followed by `close`.
    this.socket.on('error', () => undefined);
    this.socket.on('end', () => this.end());
    this.socket.on('close', () => {
      this.end();
      onClosed();
    });
  }

  ask(request: string): Promise<WholeAnswer> {
    return new Promise((resolve) => {
      this.settle = resolve;
      this.socket.write(request, 'latin1');
    });
  }

  /** Closes the connection; what was asked is answered with `answer`. */
  end(answer?: 'large'): void {
    this.isOpen = false;
    this.socket.destroy();
    this.answer(answer);
  }

  /** Where the next bytes are put. */
  private room(): Uint8Array {
    if (this.whole === undefined) return this.head.subarray(this.headBytes);
    return this.whole.bytes.subarray(this.filled);
  }

  private take(bytes: number): boolean {
    if (this.whole !== undefined) this.filled += bytes;
    else {
      this.headBytes += bytes;
      if (this.settle === undefined || !this.readHead()) this.end();
    }
    const { whole } = this;
    if (whole !== undefined && this.filled === whole.bytes.byteLength) this.finish(whole);
    return true;
  }

  /** False where the reply is not one to go on with. */
  private readHead(): boolean {
    const end = this.head.subarray(0, this.headBytes).indexOf('\r\n\r\n');
    if (end < 0) return this.headBytes < LONGEST_HEAD;
    const headers = plainSuccess(this.head.toString('latin1', 0, end));
    if (headers === undefined) return false;
    const length = Number(headers['content-length']);
    if (length > SMALL) {
      this.end('large');
      return true;
    }
    const begun = this.head.subarray(end + 4, this.headBytes);
    if (begun.byteLength > length) return false;
    this.headers = headers;
    this.whole = this.slabs.take(length);
    this.whole.bytes.set(begun);
    this.filled = begun.byteLength;
    return true;
  }

  private finish(whole: Whole): void {
    const { headers } = this;
    this.whole = undefined;
    this.headBytes = 0;
    if (/\bclose\b/i.test(headers.connection ?? '')) {
      this.isOpen = false;
      this.socket.destroy();
    }
    this.answer({ headers, whole });
  }

  private answer(answer: WholeAnswer): void {
    const { settle } = this;
    this.settle = undefined;
    settle?.(answer);
  }
}

/** The headers of a 200 whose body is as long as it says and as it is; undefined for all other replies. */
function plainSuccess(head: string): Record<string, string> | undefined {
  const [first = '', ...lines] = head.split('\r\n');
  if (!/^HTTP\/1\.1 200(?: |$)/.test(first)) return undefined;
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (colon < 1 || !/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) return undefined;
    const value = line.slice(colon + 1).trim();
    const other = headers[name];
    headers[name] = other === undefined ? value : `${other}, ${value}`;
  }
  const isPlain = headers['transfer-encoding'] === undefined && headers['content-encoding'] === undefined;
  return isPlain && /^\d{1,15}$/.test(headers['content-length'] ?? '') ? headers : undefined;
}
