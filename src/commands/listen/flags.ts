import * as Flags from '@oclif/core/flags';
import type { InferredFlags } from '@oclif/core/interfaces';
import { REQUEST_TIMEOUT_MS } from '../../api/defaults.ts';
import {
  booleanFlag,
  durationFlag,
  inGroup,
  numberFlag,
  repeatedTextFlag,
  statusesFlag,
  textFlag,
} from '../../cli/flags.ts';
import { durationText } from '../../kernel/duration.ts';
import { SIGNATURE_HEADER } from '../../kernel/vocabulary.ts';
import { DRAIN_MS, FORWARD_TIMEOUT_MS, LISTEN } from '../../webhooks/defaults.ts';

export const listenFlags = {
  ...inGroup('ADDRESS', {
    port: Flags.integer({
      description: 'port to listen on; 0 for any free port',
      default: LISTEN.port,
      min: 0,
      max: 65_535,
      helpValue: 'N',
    }),
    host: Flags.string({ description: 'address to bind', default: LISTEN.host, helpValue: 'ADDRESS' }),
    path: Flags.string({
      description: 'path to receive webhooks at',
      default: LISTEN.path,
      helpValue: '/PATH',
    }),
  }),
  ...inGroup('SIGNATURE', {
    'secret-file': repeatedTextFlag('FILE', 'file with the webhook secret; can be repeated, for rotation'),
    'signature-header': Flags.string({
      description: 'header that contains the signature',
      default: SIGNATURE_HEADER,
      helpValue: 'NAME',
    }),
  }),
  events: textFlag('A,B', 'print only these events'),
  ...inGroup('FORWARD', {
    'forward-to': repeatedTextFlag(
      'URL',
      'forward valid deliveries to this URL, byte for byte; can be repeated (localhost:3000/path also works)',
    ),
    'forward-timeout': durationFlag(
      '30s',
      `how long the forward URL may take to respond (default ${durationText(FORWARD_TIMEOUT_MS)})`,
    ),
    drain: durationFlag(
      '10s',
      `how long to continue forwarding after being stopped (default ${durationText(DRAIN_MS)})`,
    ),
  }),
  exec: textFlag('CMD', 'command to run for each new delivery; it gets the delivery as JSON on stdin'),
  ...inGroup('WAIT', {
    envelope: textFlag('ID', 'exit when this envelope reaches one of the --until statuses'),
    until: statusesFlag({
      description: 'statuses to wait for (default COMPLETED)',
      helpValue: 'A,B',
      dependsOn: ['envelope'],
    }),
    timeout: textFlag(
      '2h',
      `with --envelope: how long to wait, such as 2h (default: no limit); otherwise: how long a request may take (default ${durationText(REQUEST_TIMEOUT_MS)})`,
    ),
  }),
  download: textFlag('DIR', 'download the documents of completed envelopes into this folder'),
  tunnel: textFlag(
    'CMD',
    'tunnel command that makes the listener reachable from outside; {port} and {url} are replaced',
  ),
  keep: durationFlag(
    '30d',
    'delete received webhooks older than this, now and once a day (default: keep all)',
    86_400_000,
  ),
  inspect: booleanFlag('show deliveries live on a local web page, and print its link'),
  'inspect-port': numberFlag('port for the --inspect page (default: any free port)', {
    min: 0,
    max: 65_535,
    dependsOn: ['inspect'],
  }),
  'health-port': numberFlag('port for /healthz and /metrics; 0 for any free port', { min: 0, max: 65_535 }),
  verify: booleanFlag('check signatures; --no-verify accepts everything', { default: true, allowNo: true }),
};

/** The values of the flags. `wait`: how long to wait for the envelope, in ms. */
export type ListenFlags = Omit<InferredFlags<typeof listenFlags>, 'timeout'> & { wait: number | undefined };
