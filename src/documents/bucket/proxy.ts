import { Agent, type AgentOptions, type RequestOptions } from 'node:https';
import { Duplex } from 'node:stream';
import { messageOf } from '../../kernel/errors.ts';
import { type HttpProxy, proxyFor, urlOf } from '../../kernel/network/proxy.ts';

type Created = (error: Error | null, stream: Duplex) => void;

/** Opens https connections through the proxy, if one is set; hosts in NO_PROXY are contacted directly. */
export class ProxyAgent extends Agent {
  readonly #timeoutMs: number;

  constructor(pool: AgentOptions, timeoutMs: number) {
    super(pool);
    this.#timeoutMs = timeoutMs;
  }

  override createConnection(options: RequestOptions, created?: Created): Duplex | null | undefined {
    try {
      const proxy = proxyFor(process.env, urlOf('https:', options.host ?? '', Number(options.port)));
      if (proxy === undefined) return super.createConnection(options, created);
      this.#tunnel(proxy, options).then((socket) => created?.(null, socket), failing(created));
    } catch (error) {
      failing(created)(error);
    }
    return undefined;
  }

  async #tunnel(proxy: HttpProxy, options: RequestOptions): Promise<Duplex> {
    const { host: hostname, port, path: _, ...tls } = options;
    const { connectThrough } = await import('../../kernel/network/tunnel.ts');
    const target = { hostname: hostname ?? '', port: Number(port), timeoutMs: this.#timeoutMs, tls };
    return connectThrough(proxy, target);
  }
}

/** Returns a handler that reports an error to the callback. The types require a stream even then. */
function failing(created: Created | undefined): (error: unknown) => void {
  return (error) => created?.(error instanceof Error ? error : new Error(messageOf(error)), new Duplex());
}
