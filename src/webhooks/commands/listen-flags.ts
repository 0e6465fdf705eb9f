import * as Flags from '@oclif/core/flags';
import type { InferredFlags } from '@oclif/core/interfaces';
import { booleanFlag, inGroup, numberFlag, repeatedTextFlag, textFlag } from '../../cli/flags.ts';
import { LISTEN } from '../listen-defaults.ts';

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
    tunnel: textFlag(
      'CMD',
      'tunnel command that makes the listener reachable from outside; {port} and {url} are replaced',
    ),
  }),
  ...inGroup('SIGNATURE', {
    'secret-file': repeatedTextFlag(
      'FILE',
      'file with a webhook secret; can be repeated, for rotation (default: the secrets stored on this machine)',
    ),
    verify: booleanFlag('check signatures; --no-verify accepts everything', { default: true, allowNo: true }),
  }),
  events: textFlag('A,B', 'print, forward, and run --exec for only these events; all are stored'),
  'forward-to': repeatedTextFlag(
    'URL',
    'forward valid deliveries to this URL, byte for byte; can be repeated (localhost:3000/path also works)',
  ),
  exec: textFlag('CMD', 'command to run for each new delivery; it gets the delivery as JSON on stdin'),
  download: textFlag('DIR', 'download the documents of completed envelopes into this folder'),
  inspect: booleanFlag('show deliveries live on a local web page, and print its link'),
  'health-port': numberFlag('port for /healthz; 0 for any free port', { min: 0, max: 65_535 }),
};

export type ListenFlags = InferredFlags<typeof listenFlags>;
