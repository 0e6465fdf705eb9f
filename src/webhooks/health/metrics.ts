import type { Health } from './health.ts';
import { REASON_CODES, type Reason } from './reason.ts';

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
