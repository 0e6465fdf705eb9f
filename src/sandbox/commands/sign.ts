import type { Envelope } from '../../api/resource-types.ts';
import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, envelopeArg, repeatedTextFlag, textFlag } from '../../cli/flags.ts';
import { readPairs } from '../../cli/input/pairs.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { writeEnvelopeAction } from '../../envelopes/commands/envelope-text.ts';
import { hasSigned, isInFlight } from '../../kernel/statuses.ts';
import { writeIds } from '../../output/print-list.ts';
import { safeLine } from '../../output/text.ts';

export default class SandboxSign extends EsignCommand {
  static override summary = 'Sign an envelope in the sandbox, as the next signer or a specific signer.';
  static override examples = [
    '<%= config.bin %> sandbox sign env_123',
    '<%= config.bin %> sandbox sign env_123 --signer ada@example.com',
    '<%= config.bin %> sandbox sign env_123 --all',
  ];
  static override args = envelopeArg;
  static override flags = {
    signer: textFlag('ID|EMAIL', 'signer to sign as (default: the next signer)', { exclusive: ['all'] }),
    quiet: booleanFlag('print only the envelope ID', { char: 'q', exclusive: ['json'] }),
    all: booleanFlag('sign as everyone who has not signed yet, in order'),
    value: repeatedTextFlag('FIELD=TEXT', 'value for a field; can be repeated (default: made-up values)'),
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(SandboxSign);
    const { signer, all } = flags;
    const values = flags.value && readPairs(flags.value, 'value');
    const sandbox = await context.session.sandbox();
    const signed = await sandbox.sign(args.envelope, { signer, all, ...(values ? { values } : {}) });
    if (flags.quiet) return writeIds([signed.id], context.terminal);
    await writeEnvelopeAction('Signed', signed, context.terminal);
    if (!context.terminal.json) await context.terminal.out(renderNext(signed, context.terminal));
  }
}

/** Renders the command for the next signer or, if everyone has signed, the download. Only on a terminal. */
function renderNext(envelope: Envelope, terminal: CommandTerminal): string {
  const { outIsTty, command, style } = terminal;
  if (!outIsTty) return '';
  if (envelope.status === 'COMPLETED')
    return style('dim', `Download:  ${command('envelopes', 'download', envelope.id)}\n`);
  const left = (envelope.signers ?? []).filter((one) => !hasSigned(one));
  const [next] = left.toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0));
  if (!isInFlight(envelope.status) || next === undefined) return '';
  const who = safeLine(next.name ?? next.email ?? 'Somebody');
  return style('dim', `${who} is next:  ${command('sandbox', 'sign', envelope.id)}\n`);
}
