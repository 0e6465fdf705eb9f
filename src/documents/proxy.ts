import { Agent, type AgentOptions } from 'node:https';
import { UsageError } from '../kernel/errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy for a scheme, from HTTPS_PROXY or HTTP_PROXY in either case; the SDK knows none of these. */
export function proxyOf(env: Environment, scheme: 'http' | 'https'): URL | undefined {
  const name = `${scheme}_proxy`;
  const value = env[name.toUpperCase()] || env[name];
  if (!value) return undefined;
  const address = value.includes('://') ? value : `http://${value}`;
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new UsageError(`${name.toUpperCase()} is not the address of an HTTP proxy.`, {
      hint: 'Write it like http://proxy.example:3128.',
    });
  }
  return new URL(address);
}

/** NO_PROXY: hosts separated by commas or blanks, with all hosts below them; `host:port` for one port; `*` for all. */
export function bypasses(env: Environment, host: string, port: number): boolean {
  const wanted = bare(host);
  return (env.NO_PROXY || env.no_proxy || '').split(/[\s,]+/).some((entry) => {
    if (entry === '') return false;
    if (entry === '*') return true;
    const [name, only] = nameAndPort(entry);
    if (only !== undefined && Number(only) !== port) return false;
    const suffix = bare(name).replace(/^\*?\./, '');
    return wanted === suffix || wanted.endsWith(`.${suffix}`);
  });
}

/** An IPv6 address is all colons: it has a port only behind brackets. */
function nameAndPort(entry: string): [name: string, port: string | undefined] {
  if (!entry.startsWith('[') && entry.split(':').length > 2) return [entry, undefined];
  const [, name = entry, port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  return [name, port];
}

function bare(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

/** An agent for https: through the proxy where there is one, past it for the hosts in NO_PROXY. */
export async function httpsAgent(env: Environment, pool: AgentOptions): Promise<Agent> {
  const proxy = proxyOf(env, 'https');
  if (proxy === undefined) return new Agent(pool);
  const { agentThrough } = await import('./proxy-agent.ts');
  return agentThrough(proxy, pool, (host, port) => bypasses(env, host, port));
}

/** Where a request over plain http goes: the proxy takes it with the whole address as its path. */
export interface HttpRoute {
  protocol: string;
  hostname: string;
  port: number;
  headers: Readonly<Record<string, string>>;
}

/** The proxy's part of a plain request; undefined where it goes straight to its host. */
export function httpRoute(env: Environment, host: string, port: number): HttpRoute | undefined {
  const proxy = proxyOf(env, 'http');
  if (proxy === undefined || bypasses(env, host, port)) return undefined;
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return {
    protocol: proxy.protocol,
    hostname: proxy.hostname,
    port: Number(proxy.port || (proxy.protocol === 'https:' ? 443 : 80)),
    headers: user === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` },
  };
}
