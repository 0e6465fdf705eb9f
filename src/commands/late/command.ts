import type { Envelope, Signer } from '../../api/schemas.ts';
import { EsignCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { durationFlag, fieldsFlag, formatFlags, numberFlag } from '../../cli/flags.ts';
import { readAccount } from '../../cli/selection/account.ts';
import { selectionFlags, selectionOf } from '../../cli/selection/flags.ts';
import { type ReminderTimes, readReminderTimes, UNKNOWN_SIGNER } from '../../envelopes/reminder-times.ts';
import { counted, DAY_MS, durationInWords } from '../../kernel/duration.ts';
import { eventsDir, stateDir } from '../../kernel/files/paths.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { isTableOutput, type ListView, writeIds, writeList } from '../../output/list.ts';
import type { Terminal } from '../../output/terminal.ts';
import { paragraph } from '../../output/text.ts';
import { relativeTime } from '../../output/time.ts';
import { DEFAULT_PERCENTILE, DEFAULT_USUAL_MS, HISTORY_MS, MIN_SAMPLES } from '../../statistics/defaults.ts';
import { findLate, isOpened, type LateTurn, readWebhooks } from '../../statistics/late.ts';

export default class Late extends EsignCommand {
  static override summary = 'Show signers who are taking longer than usual, and what to do next.';
  static override description =
    `The usual time is taken from turns that finished in the last ${counted(HISTORY_MS / DAY_MS, 'day')}: first those for the same template and role, if there are at least ${MIN_SAMPLES}, otherwise those for the template, and then those for the account. With less history, it is ${durationInWords(DEFAULT_USUAL_MS)}. A signer's turn begins when the envelope is sent, or when the previous signer has signed. "Opened" is unknown unless \`esign listen\` received the envelope's webhooks on this machine for the whole turn.`;
  static override examples = [
    '<%= config.bin %> late',
    '<%= config.bin %> late --template tmpl_lease --after 3d',
    '<%= config.bin %> late -q | <%= config.bin %> envelopes remind -',
    '<%= config.bin %> late --json | jq -r .[].next',
  ];
  static override flags = {
    ...selectionFlags,
    percentile: numberFlag(
      `percentile of finished turns after which a signer is late (default ${DEFAULT_PERCENTILE})`,
      { min: 1, max: 100, exclusive: ['after'] },
    ),
    after: durationFlag('7d', 'time after which a signer is late, instead of the usual time'),
    ...formatFlags,
    fields: fieldsFlag('envelopeId,signer.email'),
  };

  async run(): Promise<void> {
    const { flags, context, session, terminal } = await this.start(Late);
    const out = terminal.hidingSecrets();
    const selection = await selectionOf(flags, context);
    const account = await readAccount({ selection, scope: 'all' }, context);
    const late = await findLate(account, {
      now: session.now(),
      percent: flags.percentile ?? DEFAULT_PERCENTILE,
      afterMs: flags.after,
    });
    if (flags.quiet) return writeIds([...new Set(late.map(({ envelope }) => envelope.id))], out);

    const steps = await stepsFor(late, context);
    const rows = steps.map(({ row }) => row);
    await writeList(rows, lateList(session.now()), flags, out);
    if (rows.length === 0) return terminal.notice('No signers are late.');
    if (isTableOutput(flags, terminal)) await out.out(renderNextSteps(steps, terminal));
  }
}

/** A late signer as printed, and the kind of the next step. */
type LateStep = Awaited<ReturnType<typeof stepsFor>>[number];
type LateRow = LateStep['row'];

async function stepsFor(late: readonly LateTurn[], { session }: Context) {
  const { baseUrl } = await session.settings();
  const reminders = await readReminderTimes(stateDir(), baseUrl?.value ?? '');
  const webhooks = await readWebhooks(eventsDir(), late, {
    serviceNow: session.now(),
    machineNow: session.clock.now(),
  });
  return late.map((one) => {
    const { envelope, turn, waitingMs, usual } = one;
    const { signer, beganAt } = turn;
    const opened = isOpened(one, webhooks);
    const remindedAt = lastReminder(reminders, one);
    const { step, next } = nextStep(envelope, signer, { opened, remindedAt });
    const { id = null, name = null, email = null, role = null } = signer;
    const row = {
      envelopeId: envelope.id,
      signer: { id, name, email, role },
      since: new Date(beganAt).toISOString(),
      waitingMs,
      usual,
      opened,
      remindedAt,
      expiresAt: envelope.expiresAt ?? null,
      /** The command to run next. */
      next,
    };
    return { row, step };
  });
}

/** Returns the time of the last reminder that this machine sent to the signer since the turn began. */
function lastReminder(reminders: ReminderTimes, { envelope, turn }: LateTurn): string | null {
  const { email, id } = turn.signer;
  const times = reminders
    .since(envelope.id, turn.beganAt, email ?? id ?? '')
    .filter(({ signer }) => signer !== UNKNOWN_SIGNER)
    .map(({ at }) => at);
  return times.length === 0 ? null : new Date(Math.max(...times)).toISOString();
}

/** The next step for a late signer: send a reminder, correct a wrong address, or call. */
type NextStep = 'remind' | 'replace' | 'call';

/**
 * Returns the next step and its command: first a reminder; then a different address if the signer never opened the envelope;
 * otherwise a call, for which the command shows the envelope.
 */
function nextStep(
  envelope: Envelope,
  signer: Signer,
  { opened, remindedAt }: { opened: boolean | null; remindedAt: string | null },
): { step: NextStep; next: string } {
  const signers = envelope.signers ?? [];
  const isUnique = signers.filter(({ email }) => email === signer.email).length === 1;
  const name = (isUnique ? signer.email : signer.id) || signer.email || '';
  if (remindedAt === null) {
    const only = name === '' ? [] : [`--signer=${name}`];
    return { step: 'remind', next: command('envelopes', 'remind', envelope.id, ...only) };
  }
  // A replacement requires those who have signed to sign again.
  const canReplace = name !== '' && !signers.some(({ signedAt }) => signedAt);
  if (opened === false && canReplace) {
    const change = `--signer=${name}=NEW-ADDRESS`;
    return { step: 'replace', next: command('envelopes', 'replace', envelope.id, change) };
  }
  return { step: 'call', next: command('envelopes', 'get', envelope.id) };
}

/** The maximum number of commands shown for each kind of step. */
const MAX_COMMANDS = 10;

function lateList(now: number): ListView<LateRow> {
  return {
    id: ({ envelopeId }) => envelopeId,
    columns: [
      { key: 'envelopeId', header: 'ENVELOPE', fixed: true },
      {
        key: 'signer.email',
        header: 'SIGNER',
        show: ({ signer }) => signer.name || signer.email || signer.id || '',
      },
      {
        key: 'since',
        header: 'WAITING',
        show: ({ waitingMs }) => durationInWords(waitingMs),
        color: () => 'yellow',
        fixed: true,
      },
      {
        key: 'usual.percentileMs',
        header: 'USUAL',
        show: ({ usual }) => durationInWords(usual.percentileMs),
        fixed: true,
      },
      { key: 'opened', show: ({ opened }) => (opened === null ? '?' : opened ? 'yes' : 'no'), fixed: true },
      {
        key: 'expiresAt',
        header: 'EXPIRES',
        show: ({ expiresAt }) => relativeTime(expiresAt, now),
        fixed: true,
      },
      { key: 'next', exactOnly: true },
    ],
  };
}

const REASONS: readonly (readonly [NextStep, string])[] = [
  ['remind', 'Not reminded yet. Send a reminder:'],
  ['replace', 'Reminded, but never opened. Check the address, and correct it:'],
  ['call', 'Already reminded. Check the details, then call the signer:'],
];

/** Renders the next command for each late signer with the reason, and what applies to all of them. */
function renderNextSteps(late: readonly LateStep[], terminal: Terminal): string {
  const groups = REASONS.flatMap(([kind, reason]) => {
    const commands = late.filter(({ step }) => step === kind).map(({ row }) => `  ${row.next}\n`);
    if (commands.length === 0) return [];
    const more = commands.length - MAX_COMMANDS;
    const rest = more > 0 ? `  … and ${more} more: ${command('late', '--json')}\n` : '';
    const shown = [...new Set(commands)].slice(0, MAX_COMMANDS).join('');
    return `\n${terminal.style('bold', paragraph(reason, terminal.columns))}\n${shown}${rest}`;
  });
  return `${groups.join('')}${caveats(late, terminal)}`;
}

function caveats(late: readonly LateStep[], terminal: Terminal): string {
  const isAny = (holds: (row: LateRow) => boolean) => late.some(({ row }) => holds(row));
  const usual = `USUAL is ${durationInWords(DEFAULT_USUAL_MS)} if fewer than ${counted(MIN_SAMPLES, 'turn')} have finished in the last ${counted(HISTORY_MS / DAY_MS, 'day')}.`;
  const opened =
    'OPENED shows ? unless `esign listen` on this machine received all webhooks during the turn.';
  const notes = [
    isAny((row) => row.usual.basis === 'default') ? usual : '',
    isAny((row) => row.opened === null) ? opened : '',
  ].filter((note) => note !== '');
  if (notes.length === 0) return '';
  return `\n${notes.map((note) => `${terminal.style('dim', paragraph(note, terminal.columns))}\n`).join('')}`;
}
