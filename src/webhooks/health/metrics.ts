import type { Health } from './health.ts';
import type { Reason } from './reason.ts';

const CODES: readonly Reason['code'][] = [
  'journal',
  'tunnel',
  'forward',
  'signature',
  'clock',
  'port',
  'connections',
  'stopping',
];

/** The same in the text format of Prometheus. */
export function metricsText(health: Health, reasons: readonly Reason[]): string {
  const { counts, startedAt, verifiedAt, pending, heldBackMs } = health;
  const isWrong = (code: Reason['code']) => Number(reasons.some((one) => one.code === code));
  return [
    ...metric('healthy', 'gauge', '1 when nothing is wrong.', [['', Number(reasons.length === 0)]]),
    ...metric(
      'unhealthy',
      'gauge',
      '1 for each reason why something is wrong.',
      CODES.map((code) => [`{reason="${code}"}`, isWrong(code)]),
    ),
    ...metric('deliveries_total', 'counter', 'Webhooks that are in the journal.', [
      ['{result="verified"}', counts.verified],
      ['{result="unverified"}', counts.unverified],
      ['{result="refused"}', counts.refused],
    ]),
    ...metric('duplicates_total', 'counter', 'Webhooks that came again.', [['', counts.duplicates]]),
    ...metric('failed_total', 'counter', 'Webhooks that were answered 500.', [['', counts.failed]]),
    ...metric('dropped_connections_total', 'counter', 'Connections closed because there were too many.', [
      ['', counts.dropped],
    ]),
    ...metric('forwards_total', 'counter', 'Tries to pass a webhook on.', [
      ['{result="taken"}', counts.forwarded],
      ['{result="failed"}', counts.forwardsFailed],
    ]),
    ...metric('forwards_pending', 'gauge', 'Webhooks that are not passed on yet.', [['', pending]]),
    ...metric('forward_held_back_seconds', 'gauge', 'How long the oldest of them is tried.', [
      ['', heldBackMs / 1_000],
    ]),
    ...metric('tunnel_failures_total', 'counter', 'How often the tunnel broke down.', [
      ['', counts.tunnelRestarts],
    ]),
    ...metric('start_time_seconds', 'gauge', 'When it started.', [['', startedAt / 1_000]]),
    ...(verifiedAt === undefined
      ? []
      : metric('last_verified_time_seconds', 'gauge', 'When the last good webhook came.', [
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
