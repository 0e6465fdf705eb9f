import { Agent, type AgentOptions } from 'node:https';
import { bypasses, type Environment, proxyOf } from '../../kernel/proxy.ts';

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
