import { type Agent, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isRecord } from '../kernel/json.ts';
import { encodePath, Signer, type SigningKeys } from './sigv4.ts';
import { type WholeAnswer, WholeGets } from './whole-get.ts';

/*
 * The SDK takes more of a processor for one small object than fetching, hashing and writing it do together. So it
 * leads the way: from a request of its own that was answered well, the lane learns where the bucket is and for which
 * region to sign, and sends the GETs after it by itself. Whatever is not a plain success goes through the SDK again,
 * which tries again and names errors.
 */

/** What a lane needs of the client it follows. */
export interface Leader {
  keys(): Promise<SigningKeys>;
  clockOffset(): number;
  agents: { http: Agent; https: Agent };
  /** True where no proxy stands between. */
  isDirect(secure: boolean, hostname: string, port: number | undefined): boolean;
  timeoutMs: number;
}

interface Road {
  secure: boolean;
  hostname: string;
  port: number | undefined;
  /** As the Host header says it. */
  host: string;
  /** The path before the key. */
  base: string;
  signer: Signer;
  /** For small objects; undefined where they go the same way as all. */
  wholes: WholeGets | undefined;
}

export class QuickLane {
  private readonly leader: Leader;
  private road: Road | undefined;

  constructor(leader: Leader) {
    this.leader = leader;
  }

  /** True when it knows the way. */
  get isOpen(): boolean {
    return this.road !== undefined;
  }

  /** Learns from a request of the SDK that was answered with success; one it can't follow teaches nothing. */
  learn(request: unknown, key: string): void {
    if (this.road !== undefined || !isRecord(request) || !isRecord(request.headers)) return;
    const { hostname, port, protocol, path, headers } = request;
    const scope = /^AWS4-HMAC-SHA256 Credential=[^/]+\/\d{8}\/([^/]+)\/s3\/aws4_request,/.exec(
      String(headers.authorization),
    );
    const encoded = encodePath(key);
    const plain =
      scope !== null && typeof path === 'string' && path.startsWith('/') && path.endsWith(`/${encoded}`);
    if (!plain || typeof hostname !== 'string' || headers['x-amz-s3session-token'] !== undefined) return;
    const address = {
      secure: protocol === 'https:',
      hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: typeof port === 'number' ? port : undefined,
    };
    const { isDirect, timeoutMs } = this.leader;
    const direct = isDirect(address.secure, address.hostname, address.port);
    this.road = {
      ...address,
      wholes: direct ? new WholeGets(address, timeoutMs) : undefined,
      host: String(headers.host),
      base: path.slice(0, path.length - encoded.length),
      signer: new Signer(scope[1] ?? ''),
    };
  }

  /** The reply to a GET, or undefined where the SDK has to see to it. */
  async get(
    key: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<IncomingMessage | undefined> {
    const { road } = this;
    if (road === undefined) return undefined;
    const { path, signed } = await this.sign(road, key, headers);
    const reply = await this.send(road, path, signed, signal);
    if (reply === undefined || [200, 206, 304, 412, 416].includes(reply.statusCode ?? 0)) return reply;
    reply.destroy();
    return undefined;
  }

  /** A small object in one piece. `large` where it is none or can't come like this, undefined where the SDK has to see to it. */
  async getWhole(
    key: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<WholeAnswer> {
    const { road } = this;
    if (road?.wholes === undefined) return 'large';
    const { path, signed } = await this.sign(road, key, headers);
    return road.wholes.get(path, signed, signal);
  }

  /** What is asked for a key, as it is traced. */
  addressOf(key: string): { method: string; url: string } {
    const { secure = false, host = '', base = '' } = this.road ?? {};
    return { method: 'GET', url: `${secure ? 'https' : 'http'}://${host}${base}${encodePath(key)}` };
  }

  close(): void {
    this.road?.wholes?.close();
  }

  private async sign(
    road: Road,
    key: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ path: string; signed: Record<string, string> }> {
    const path = `${road.base}${encodePath(key)}`;
    const now = Date.now() + this.leader.clockOffset();
    return { path, signed: road.signer.sign(road.host, path, headers, await this.leader.keys(), now) };
  }

  private send(
    road: Road,
    path: string,
    headers: Record<string, string>,
    signal: AbortSignal | undefined,
  ): Promise<IncomingMessage | undefined> {
    const { agents, timeoutMs } = this.leader;
    const agent = road.secure ? agents.https : agents.http;
    const { hostname, port } = road;
    return new Promise((resolve) => {
      const options = { agent, hostname, path, headers, ...(port === undefined ? {} : { port }) };
      const outgoing = (road.secure ? requestHttps : requestHttp)(options);
      const giveUp = () => outgoing.destroy();
      const timer = setTimeout(giveUp, timeoutMs);
      signal?.addEventListener('abort', giveUp, { once: true });
      const settle = (reply: IncomingMessage | undefined) => {
        clearTimeout(timer);
        resolve(reply);
      };
      outgoing.once('response', settle);
      outgoing.on('error', () => settle(undefined));
      outgoing.once('close', () => {
        signal?.removeEventListener('abort', giveUp);
        settle(undefined);
      });
      outgoing.end();
    });
  }
}
