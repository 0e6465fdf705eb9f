import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { codeOf } from '../errors.ts';
import { authorization, type HttpProxy } from './proxy.ts';
import { connectTrusting, type TlsTrust } from './trust.ts';

/** Error codes of failures at the proxy. The host received no request. */
export type TunnelErrorCode = 'PROXY_REFUSED' | 'PROXY_TIMEOUT';

class TunnelError extends Error {
  override readonly name = 'TunnelError';
  readonly code: TunnelErrorCode;
  constructor(message: string, code: TunnelErrorCode) {
    super(message);
    this.code = code;
  }
}

export interface TunnelTarget {
  /** For an IPv6 address, without brackets. */
  hostname: string;
  port: number;
  /** The time limit for connecting to the proxy, its response, and TLS together, in ms. */
  timeoutMs: number;
  tls?: ConnectionOptions | undefined;
}

/** Opens a TLS connection to a host through an HTTP proxy. @throws TunnelError if the proxy refuses it or doesn't respond in time. */
export async function connectThrough(proxy: HttpProxy, target: TunnelTarget): Promise<TLSSocket> {
  const { hostname, timeoutMs } = target;
  let connection: { destroy(): unknown } | undefined;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      connection?.destroy();
      reject(new TunnelError('it did not open a tunnel in time', 'PROXY_TIMEOUT'));
    }, timeoutMs);
  });
  const open = async (trust: TlsTrust) => {
    const outgoing = sendConnectRequest(proxy, target, trust);
    connection = outgoing.request;
    const socket = await outgoing.opened;
    const name = isIP(hostname) === 0 ? { servername: hostname } : {};
    const secure = connect({ ...name, ...target.tls, ...trust, host: hostname, socket });
    connection = secure;
    await new Promise<void>((resolve, reject) => {
      secure.once('secureConnect', resolve).once('error', reject);
    });
    return secure;
  };
  try {
    const opened = connectTrusting(open);
    // After a timeout, a later failure must not count as unhandled.
    opened.catch(() => undefined);
    return await Promise.race([opened, late]);
  } finally {
    clearTimeout(timer);
  }
}

function sendConnectRequest(proxy: HttpProxy, { hostname, port }: TunnelTarget, trust: TlsTrust) {
  const { url } = proxy;
  const path = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)({
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: proxy.port,
    method: 'CONNECT',
    path,
    headers: { host: path, ...authorization(proxy) },
    agent: false,
    ...trust,
  });
  const opened = new Promise<Socket>((resolve, reject) => {
    const refuse = (why: string) => reject(new TunnelError(why, 'PROXY_REFUSED'));
    request.once('connect', ({ statusCode = 0 }, socket: Socket) => {
      if (statusCode >= 200 && statusCode < 300) return resolve(socket);
      socket.destroy();
      refuse(`it refused a tunnel to ${path} (${statusCode})`);
    });
    request.once('error', (error) => {
      if (/^(ECONNRESET|EPIPE|HPE_.*)$/.test(codeOf(error) ?? '')) refuse('the response is not from a proxy');
      else reject(error);
    });
    request.end();
  });
  return { request, opened };
}
