import type { Socket } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import { lookupHost } from '../../kernel/network/localhost.ts';
import { authorization, type HttpProxy, proxyFor } from '../../kernel/network/proxy.ts';
import { connectTrusting, type TlsTrust } from '../../kernel/network/trust.ts';
import { createAgent, createConnector, type HttpAgent } from './undici.ts';

/** The connections of one run, and the proxy they use. */
export interface Connections {
  dispatcher: HttpAgent;
  proxy: HttpProxy | undefined;
}

/**
 * Returns connections to an address, using HTTPS_PROXY, HTTP_PROXY, and NO_PROXY.
 * @throws UsageError for an invalid proxy.
 */
export function createConnections(target: URL, timeoutMs: number): Connections {
  const proxy = proxyFor(process.env, target);
  const limits = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
  const direct = { connect: directConnector(timeoutMs), ...limits };
  if (proxy === undefined) return { proxy, dispatcher: createAgent(direct) };
  if (target.protocol === 'http:')
    return { proxy, dispatcher: createAgent(direct).compose(throughHttpProxy(proxy)) };
  return { proxy, dispatcher: createAgent({ connect: tunnelConnector(proxy, timeoutMs), ...limits }) };
}

function directConnector(timeoutMs: number): buildConnector.connector {
  let trusted: TlsTrust = {};
  const connectorFor = (trust: TlsTrust) =>
    createConnector({ timeout: timeoutMs, lookup: lookupHost, ...trust });
  let connector = connectorFor(trusted);
  return (target, callback) => {
    if (target.protocol !== 'https:') return connector(target, callback);
    connectTrusting((trust) => {
      // A connector caches TLS sessions, so it is kept until the trusted certificates change.
      if (trust.secureContext !== trusted.secureContext) {
        trusted = trust;
        connector = connectorFor(trust);
      }
      return connect(connector, target);
    }).then((socket) => callback(null, socket), rejectWith(callback));
  };
}

function connect(connector: buildConnector.connector, target: buildConnector.Options): Promise<Socket> {
  return new Promise((resolve, reject) => {
    connector(target, (error, socket) => (error === null ? resolve(socket) : reject(error)));
  });
}

function rejectWith(callback: buildConnector.Callback): (error: unknown) => void {
  return (error) => callback(error instanceof Error ? error : new Error(String(error)), null);
}

/** Sends plain http requests to the proxy, with the full URL as the path. */
function throughHttpProxy(proxy: HttpProxy): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const { host } = new URL(String(options.origin));
    const headers = { ...options.headers, host, ...authorization(proxy) };
    const path = `${String(options.origin)}${options.path}`;
    return dispatch({ ...options, origin: proxy.url.origin, path, headers }, handler);
  };
}

/** Returns a connector for https, which tunnels through the proxy. The proxy can't see the requests. */
function tunnelConnector(proxy: HttpProxy, timeoutMs: number): buildConnector.connector {
  return ({ hostname, port }, callback) => {
    const target = { hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || 443), timeoutMs };
    import('../../kernel/network/tunnel.ts')
      .then(({ connectThrough }) => connectThrough(proxy, target))
      .then((socket) => callback(null, socket), rejectWith(callback));
  };
}
