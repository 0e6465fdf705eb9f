import { UsageError } from '../../kernel/errors.ts';
import { ownValue } from '../../kernel/json.ts';

/** Commands of earlier versions that were removed, with what to use instead. */
const COMMANDS: Readonly<Record<string, string>> = {
  compat: 'To check what the service supports, run `esign doctor`.',
  schema: 'To print the output schema of a command, run `esign COMMAND --help --json`.',
  index:
    'To update the index, run `esign find TEXT --refresh`. To see its size and age, run `esign doctor`. To delete it, run `esign profiles edit NAME --no-index`.',
  'envelopes summary': 'To see what needs attention, run `esign report`.',
  'bulk show': 'To see the state of a run, run `esign bulk status RUN`.',
  'bulk rehearse':
    'To check a file, run `esign bulk create FILE --dry-run`. To send it without emailing anyone, run `esign sandbox start --like PROFILE` and use the `sandbox` profile.',
  'documents head': 'To read the metadata of an object, run `aws s3api head-object`.',
  'documents pins':
    'To see the pinned certificate, run `esign profiles show`. To change it, run `esign profiles edit NAME --pin FINGERPRINT`.',
  'log undo': 'To cancel the envelopes of a run, run `esign envelopes cancel --run RUN`.',
  'log verify': 'To read the log, run `esign log`.',
  'events verify': '`esign listen` verifies each delivery. To see the result, run `esign events list`.',
  'events secret': 'To generate a secret, run `openssl rand -hex 32`.',
  'events gaps': 'To compare an envelope with its deliveries, run `esign envelopes get ID --history`.',
  'sandbox choices': 'To change what the sandbox does, run `esign sandbox start --choice NAME=VALUE`.',
  'sandbox deliveries':
    "To see the deliveries, open the sandbox's page. `esign sandbox start` prints its URL.",
  'sandbox faults':
    'To inject faults, run `esign sandbox start --fault …`. To change them later, see `esign sandbox exec --help`.',
  'sandbox snapshot': 'To save and restore the state, use `esign-cli/sandbox` in your tests.',
};

interface RemovedFlags {
  flags: readonly string[];
  /** The commands that had these flags (default: all). */
  of?: RegExp;
  instead: string;
}

const FILTERS = [
  '--status',
  '--template',
  '--signer',
  '--metadata',
  '--since',
  '--older-than',
  '--expiring-in',
];

/** Flags of earlier versions that were removed, with what to use instead. The first match counts. */
const FLAGS: readonly RemovedFlags[] = [
  { flags: ['--waves', '--stop-if', '--anyway'], instead: 'To send part of a list first, use --first N.' },
  { flags: ['--plan', '--plan-age'], instead: 'To see what would be sent, use --dry-run.' },
  { flags: ['--max-requests'], instead: 'To send part of a list first, use --first N.' },
  {
    flags: ['--one-step', '--stop-on-error', '--reserve', '--concurrency'],
    of: /^bulk/,
    instead:
      'A run adapts to the rate limit, and stops if its first 20 rows fail with the same code. To send part of a list first, use --first N.',
  },
  {
    flags: ['--skip-existing'],
    instead: 'To send only what is missing, run `esign bulk roster FILE --missing | esign bulk create -`.',
  },
  { flags: ['--last'], of: /^bulk /, instead: 'Leave it out: the latest run is the default.' },
  { flags: ['--last'], instead: 'For the latest run, use --run last.' },
  {
    flags: [...FILTERS, '--search'],
    of: /^envelopes (send|cancel|remind|watch|download)\b/,
    instead:
      'Filter with a list, such as `esign envelopes list --status open -q | esign envelopes remind -`.',
  },
  { flags: ['--concurrency'], instead: 'Leave it out: several files are downloaded at the same time.' },
  { flags: ['--search'], instead: 'To search, run `esign find TEXT`.' },
  { flags: ['--sort'], instead: 'To sort, use --json with `jq sort_by(.createdAt)`.' },
  { flags: ['--metadata-file'], instead: 'Use --metadata KEY=VALUE once for each value.' },
  { flags: ['--encoding', '--sheet'], of: /^envelopes create/, instead: 'Save the file as CSV in UTF-8.' },
  { flags: ['--require-list'], instead: 'To check a list of hashes, run `sha256sum -c SHA256SUMS`.' },
  { flags: ['--percentile'], instead: 'To set the waiting time yourself, use --after 7d.' },
  { flags: ['--markdown'], instead: 'Use --html FILE, or --json for other formats.' },
  { flags: ['--jsonl'], instead: "Use --json, with `jq -c '.[]'` for one item per line." },
  { flags: ['--csv', '--fields'], instead: 'Use --json, and select the fields with jq.' },
  { flags: ['--api-key-stdin'], instead: 'Use --api-key-file -.' },
  { flags: ['--secret-access-key-stdin'], instead: 'Use --secret-access-key-file -.' },
  { flags: ['--keychain'], instead: 'To read the key from a keychain, use --api-key-command COMMAND.' },
  { flags: ['--no-spinner'], instead: 'Set ESIGN_NO_SPINNER=1.' },
  { flags: ['--choices'], instead: 'Use --choice NAME=VALUE once for each choice.' },
  { flags: ['--faults'], instead: 'Use --fault once for each fault.' },
  {
    flags: ['--host', '--bucket-port', '--save-profile', '--no-save-profile'],
    of: /^sandbox/,
    instead: 'Leave it out: the sandbox listens on 127.0.0.1 and adds the `sandbox` profile.',
  },
  {
    flags: ['--from', '--out'],
    of: /^sandbox seed/,
    instead: 'To copy templates of an account, run `esign sandbox start --like PROFILE`.',
  },
  { flags: ['--force'], of: /^envelopes evidence/, instead: 'Use a new or empty folder for --dir.' },
  {
    flags: ['--envelope', '--events', '--since', '--verified', '--unverified'],
    of: /^events/,
    instead: 'List the deliveries of an envelope with `esign events list ENVELOPE`.',
  },
  { flags: ['--notify'], instead: 'To be notified, use --exec CMD.' },
  {
    flags: ['--envelope', '--until'],
    of: /^listen/,
    instead: 'To wait for an envelope, run `esign envelopes watch ID`.',
  },
  { flags: ['--keep'], of: /^listen/, instead: 'Deliveries are kept for 400 days.' },
  { flags: ['--drain'], of: /^listen/, instead: 'Stopping waits for forwards in progress.' },
  {
    flags: ['--forward-timeout'],
    of: /^listen/,
    instead: 'Leave it out: forwards are retried after a timeout.',
  },
  { flags: ['--inspect-port'], of: /^listen/, instead: 'Use --inspect, which prints the URL of its page.' },
  { flags: ['--signature-header'], of: /^listen/, instead: 'Leave it out: X-Service-Signature is used.' },
];

/** Returns the error for a command that was removed, named by the first arguments, unless it exists. */
export function removedCommand(
  argv: readonly string[],
  commands: Readonly<Record<string, unknown>>,
): UsageError | undefined {
  const words = argv.filter((word) => !['--json', '--help', '-h'].includes(word));
  for (const length of [1, 2]) {
    const name = words.slice(0, length).join(' ');
    const instead = Object.hasOwn(commands, name) ? undefined : ownValue(COMMANDS, name);
    const isTopic = Object.keys(commands).some((known) => known.startsWith(`${name} `));
    if (instead !== undefined && !isTopic)
      return new UsageError(`\`esign ${name}\` was removed.`, { hint: instead });
  }
  return undefined;
}

/** Returns the error for a flag that the command in `argv` no longer has. */
export function removedFlag(flag: string, argv: readonly string[]): UsageError | undefined {
  const name = flag.replace(/=.*/s, '');
  const command = argv.slice(0, 2).join(' ');
  const found = FLAGS.find(({ flags, of }) => flags.includes(name) && (of?.test(command) ?? true));
  return found && new UsageError(`${name} was removed.`, { hint: found.instead });
}
