import { EsignCommand } from '../../cli/command.ts';
import { durationFlag, fieldsFlag, formatFlags, quietFlag } from '../../cli/flags.ts';
import { outputTable } from '../../cli/output-table.ts';
import { rebuildCommand } from '../../cli/rebuild-command.ts';
import { counted, DAY_MS, durationInWords } from '../../kernel/duration.ts';
import { isTableOutput, type ListView, writeList } from '../../output/print-list.ts';
import { selectionFlags, selectionFromFlags } from '../../selection/selection-flags.ts';
import { DEFAULT_USUAL_MS, HISTORY_MS, MIN_SAMPLES, USUAL_PERCENTILE } from '../usual-time.ts';
import { renderLate } from './late-screen.ts';
import { type LateSigner, readLateSigners } from './late-signers.ts';

export default class Late extends EsignCommand {
  static override summary = 'Show signers who are taking longer than usual, and what to do next.';
  static override description =
    `The usual time is the ${USUAL_PERCENTILE}th percentile of the turns that finished in the last ${counted(HISTORY_MS / DAY_MS, 'day')}: those for the same template, if there are at least ${MIN_SAMPLES}, otherwise those for the account. With less history, it is ${durationInWords(DEFAULT_USUAL_MS)}. A signer's turn begins when the envelope is sent, or when the previous signer has signed.`;
  static override examples = [
    '<%= config.bin %> late',
    '<%= config.bin %> late --template tmpl_lease --after 3d',
    '<%= config.bin %> late -q | <%= config.bin %> envelopes remind -',
    "<%= config.bin %> late --json | jq -r '.[].next'",
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
    const format = { ...flags, table: outputTable(flags, terminal) };
    const selection = await selectionFromFlags(flags, context);
    const rows = await readLateSigners(selection, flags.after, context);
    if (rows.length === 0 && !flags.quiet) terminal.notice('No signers are late.');
    if (rows.length === 0 || !isTableOutput(format, terminal)) return writeList(rows, LATE_LIST, format, out);
    const remind = `${rebuildCommand(session.words, { add: ['-q'] })} | ${terminal.command('envelopes', 'remind', '-')}`;
    await out.out(renderLate(rows, remind, terminal, session.now()));
  }
}

/** The exact values, for pipes. A terminal shows `renderLate` instead. */
const LATE_LIST: ListView<LateSigner> = {
  id: ({ envelopeId, signer }) => `${envelopeId} ${signer.id || signer.email || ''}`.trimEnd(),
  columns: [
    'envelopeId',
    'signer.email',
    'since',
    'usual.percentileMs',
    'opened',
    'remindedAt',
    'expiresAt',
    'next',
  ].map((key) => ({ key })),
};
