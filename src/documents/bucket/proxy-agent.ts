import { Agent, type AgentOptions, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { HttpsProxyAgent } from 'hpagent';

/** An agent that tunnels through the proxy, unless `passes` says that a host needs none. */
export function agentThrough(
  proxy: URL,
  pool: AgentOptions,
  passes: (host: string, port: number) => boolean,
): Agent {
  return new ProxyAgent(proxy, pool, passes);
}

class ProxyAgent extends HttpsProxyAgent {
  private readonly passes: (host: string, port: number) => boolean;

  constructor(proxy: URL, pool: AgentOptions, passes: (host: string, port: number) => boolean) {
    super({ ...pool, proxy });
    this.passes = passes;
  }

  override createConnection(
    options: RequestOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    if (!this.passes(options.host ?? '', Number(options.port)))
      return super.createConnection(options, callback);
    return Agent.prototype.createConnection.call(this, options, callback);
  }
}
