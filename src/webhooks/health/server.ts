import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeServer } from '../../kernel/network/listening.ts';
import { openPort } from '../open-port.ts';
import { type Health, REASON_CODES, type Reason } from './health.ts';

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

/** Returns the metrics in the Prometheus text format. */
export function metricsText(health: Health, reasons: readonly Reason[]): string {
  const { counts, startedAt, verifiedAt, pending, pendingMs } = health;
  const isWrong = (code: Reason['code']) => Number(reasons.some((one) => one.code === code));
  return [
    ...metric('healthy', 'gauge', '1 if the listener is healthy, 0 if it has a problem.', [
      ['', Number(reasons.length === 0)],
    ]),
    ...metric(
      'unhealthy',
      'gauge',
      '1 for each current problem.',
      REASON_CODES.map((code) => [`{reason="${code}"}`, isWrong(code)]),
    ),
    ...metric('deliveries_total', 'counter', 'Webhooks stored in the journal.', [
      ['{result="verified"}', counts.verified],
      ['{result="unverified"}', counts.unverified],
      ['{result="refused"}', counts.refused],
    ]),
    ...metric('duplicates_total', 'counter', 'Duplicate webhooks received.', [['', counts.duplicates]]),
    ...metric('failed_total', 'counter', 'Webhooks that got a 500 response.', [['', counts.failed]]),
    ...metric('dropped_connections_total', 'counter', 'Connections closed because too many were open.', [
      ['', counts.dropped],
    ]),
    ...metric('forwards_total', 'counter', 'Attempts to forward a webhook.', [
      ['{result="taken"}', counts.forwarded],
      ['{result="failed"}', counts.forwardsFailed],
    ]),
    ...metric('forwards_pending', 'gauge', 'Webhooks not forwarded yet.', [['', pending]]),
    ...metric(
      'forward_held_back_seconds',
      'gauge',
      'Time since the oldest pending forward was first attempted.',
      [['', pendingMs / 1_000]],
    ),
    ...metric('tunnel_failures_total', 'counter', 'Number of times the tunnel stopped.', [
      ['', counts.tunnelRestarts],
    ]),
    ...metric('start_time_seconds', 'gauge', 'Time when the listener was started.', [
      ['', startedAt / 1_000],
    ]),
    ...(verifiedAt === undefined
      ? []
      : metric('last_verified_time_seconds', 'gauge', 'Time of the last valid webhook.', [
          ['', verifiedAt / 1_000],
        ])),
    '',
  ].join('\n');
}

function metric(
  name: string,
  type: 'gauge' | 'counter',
  help: string,
  values: readonly (readonly [labels: string, value: number])[],
): string[] {
  const full = `esign_listen_${name}`;
  return [
    `# HELP ${full} ${help}`,
    `# TYPE ${full} ${type}`,
    ...values.map(([labels, value]) => `${full}${labels} ${value}`),
  ];
}
