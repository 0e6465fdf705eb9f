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
  const { counts, startedAt, verifiedAt, forwarding } = health;
  const pendingMs = forwarding.oldestPending?.ms ?? 0;
  const isWrong = (code: Reason['code']) => Number(reasons.some((one) => one.code === code));
  const isHealthy = Number(reasons.length === 0);
  const problems = REASON_CODES.map((code) => [`{reason="${code}"}`, isWrong(code)] as const);
  const deliveries = [
    ['{result="verified"}', counts.verified],
    ['{result="unverified"}', counts.unverified],
    ['{result="refused"}', counts.refused],
  ] as const;
  const forwards = [
    ['{result="taken"}', counts.forwarded],
    ['{result="failed"}', counts.forwardsFailed],
  ] as const;
  const pendingSince = 'Time since the oldest pending forward was first attempted.';
  const lines = [
    gauge('healthy', '1 if the listener is healthy, 0 if it has a problem.', isHealthy),
    gauge('unhealthy', '1 for each current problem.', problems),
    counter('deliveries_total', 'Webhooks stored in the journal.', deliveries),
    counter('duplicates_total', 'Duplicate webhooks received.', counts.duplicates),
    counter('failed_total', 'Webhooks that got a 500 response.', counts.failed),
    metric(
      'counter',
      'dropped_connections_total',
      'Connections closed because too many were open.',
      counts.dropped,
    ),
    counter('forwards_total', 'Attempts to forward a webhook.', forwards),
    gauge('forwards_pending', 'Webhooks not forwarded yet.', forwarding.pending),
    gauge('forward_held_back_seconds', pendingSince, pendingMs / 1_000),
    counter('tunnel_failures_total', 'Number of times the tunnel stopped.', counts.tunnelRestarts),
    gauge('start_time_seconds', 'Time when the listener was started.', startedAt / 1_000),
  ];
  if (verifiedAt !== undefined)
    lines.push(gauge('last_verified_time_seconds', 'Time of the last valid webhook.', verifiedAt / 1_000));
  return lines.join('');
}

/** One value, or values by their labels. */
type MetricValue = number | readonly (readonly [labels: string, value: number])[];

function gauge(name: string, help: string, value: MetricValue): string {
  return metric('gauge', name, help, value);
}

function counter(name: string, help: string, value: MetricValue): string {
  return metric('counter', name, help, value);
}

function metric(type: 'gauge' | 'counter', name: string, help: string, value: MetricValue): string {
  const full = `esign_listen_${name}`;
  const values = typeof value === 'number' ? ([['', value]] as const) : value;
  const lines = values.map(([labels, number]) => `${full}${labels} ${number}\n`);
  return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${lines.join('')}`;
}
