import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeServer } from '../../kernel/network/listening.ts';
import { openPort } from '../open-port.ts';
import type { Health } from './health.ts';
import { metricsText } from './metrics.ts';

export interface HealthServer {
  /** The URL of /healthz; the metrics are at /metrics. */
  url: string;
  close(): Promise<void>;
}

const TIME_LIMITS = { headersTimeout: 5_000, requestTimeout: 5_000, connectionsCheckingInterval: 1_000 };

/**
 * Starts a server for monitoring: /healthz returns 200, or 503 with the reasons; /metrics returns Prometheus metrics.
 * @throws UsageError if the port is in use.
 */
export async function startHealthServer(
  health: Health,
  { host, port }: { host: string; port: number },
): Promise<HealthServer> {
  const server = createServer(TIME_LIMITS, (request, response) => {
    void answer(request, response, health).catch(() => response.destroy());
  });
  const origin = await openPort(server, { host, port, flag: '--health-port', what: 'serve health checks' });
  return {
    url: `${origin}/healthz`,
    close: () => closeServer(server),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, health: Health): Promise<void> {
  const path = (request.url ?? '').split('?')[0];
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (path !== '/healthz' && path !== '/metrics')
    return send(response, 404, 'text/plain', 'see /healthz and /metrics\n');
  if (!isRead) return send(response, 405, 'text/plain', 'use GET\n');
  const reasons = await health.reasons();
  if (path === '/metrics')
    return send(response, 200, 'text/plain; version=0.0.4', metricsText(health, reasons));
  const ok = reasons.length === 0;
  send(response, ok ? 200 : 503, 'application/json', `${JSON.stringify({ ok, reasons })}\n`);
}

function send(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, {
    'content-type': `${type}; charset=utf-8`,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
  });
  response.end(text);
}
