import { selectionFlags, selectionOf } from '../../catalog/commands/selection-flags.ts';
import { EsignCommand } from '../../cli/command.ts';
import { durationFlag, fieldsFlag, formatFlags, quietFlag } from '../../cli/flags.ts';
import { rebuildCommand } from '../../cli/rerun.ts';
import { counted, DAY_MS, durationInWords } from '../../kernel/duration.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { isTableOutput, type ListView, writeList } from '../../output/print-list.ts';
import type { Terminal } from '../../output/terminal.ts';
import { relativeTime } from '../../output/time.ts';
import type { Session } from '../../session/session.ts';
import { DEFAULT_USUAL_MS, HISTORY_MS, MIN_SAMPLES, USUAL_PERCENTILE } from '../usual-times.ts';
import { type LateSigner, readLateSigners } from './late-signers.ts';

export default class Late extends EsignCommand {
  static override summary = 'Show signers who are taking longer than usual, and what to do next.';
  static override description =
    `The usual time is the ${USUAL_PERCENTILE}th percentile of the turns that finished in the last ${counted(HISTORY_MS / DAY_MS, 'day')}: first those for the same template and role, if there are at least ${MIN_SAMPLES}, otherwise those for the template, and then those for the account. With less history, it is ${durationInWords(DEFAULT_USUAL_MS)}. A signer's turn begins when the envelope is sent, or when the previous signer has signed.`;
  static override examples = [
    '<%= config.bin %> late',
    '<%= config.bin %> late --template tmpl_lease --after 3d',
    '<%= config.bin %> late -q | <%= config.bin %> envelopes remind -',
    '<%= config.bin %> late --json | jq -r .[].next',
  ];
  static override flags = {
    ...selectionFlags,
    after: durationFlag('7d', 'time after which a signer is late, instead of the usual time'),
    ...formatFlags,
    quiet: quietFlag('the IDs of the envelope and the signer'),
    fields: fieldsFlag('envelopeId,signer.email'),
  };

  async run(): Promise<void> {
    const { flags, context, session, terminal } = await this.start(Late);
    const out = terminal.hidingSecrets();
    const selection = await selectionOf(flags, context);
    const rows = await readLateSigners(selection, flags.after, context);
    await writeList(rows, lateList(session.now()), flags, out);
    if (rows.length === 0) return flags.quiet ? undefined : terminal.notice('No signers are late.');
    if (isTableOutput(flags, terminal)) await out.out(renderReminder(rows, session, terminal));
  }
}

function lateList(now: number): ListView<LateSigner> {
  return {
    id: ({ envelopeId, signer }) => `${envelopeId} ${signer.id || signer.email || ''}`.trimEnd(),
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
      { key: 'opened', show: ({ opened }) => (opened ? 'yes' : ''), fixed: true },
      {
        key: 'remindedAt',
        header: 'REMINDED',
        show: ({ remindedAt }) => relativeTime(remindedAt, now),
        fixed: true,
      },
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

/** Renders the command that reminds exactly these signers, and what the usual time is based on. */
function renderReminder(late: readonly LateSigner[], session: Session, terminal: Terminal): string {
  const remind = `${rebuildCommand(session.words, { add: ['-q'] })} | ${command('envelopes', 'remind', '-')}`;
  const usual = late.some((row) => row.usual.basis === 'default')
    ? `USUAL is ${durationInWords(DEFAULT_USUAL_MS)} if fewer than ${counted(MIN_SAMPLES, 'turn')} have finished in the last ${counted(HISTORY_MS / DAY_MS, 'day')}.\n`
    : '';
  return `\n${terminal.style('dim', usual)}Remind them:  ${remind}\n`;
}
