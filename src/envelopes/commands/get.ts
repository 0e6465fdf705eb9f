import type { Envelope } from '../../api/schemas.ts';
import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, optionalArg } from '../../cli/flags.ts';
import { readIds } from '../../cli/input/ids.ts';
import { forEachId } from './each-envelope.ts';

export default class EnvelopesGet extends EsignCommand {
  static override summary = 'Show an envelope: its status, its signers, and what to do next.';
  static override examples = [
    '<%= config.bin %> envelopes get env_123',
    '<%= config.bin %> envelopes get env_123 --history',
    '<%= config.bin %> envelopes get env_123 --json | jq -r .status',
    '<%= config.bin %> envelopes list --all -q | <%= config.bin %> envelopes get - --json',
  ];
  static override strict = false;
  static override args = {
    id: optionalArg('envelope IDs, or `-` to read them from stdin'),
  };
  static override flags = {
    history: booleanFlag(
      'also show its dates, storage keys, and history, including the webhooks that `listen` received here',
    ),
  };

  /** Scripts may get the JSON of a thousand envelopes, so everything else is loaded late. */
  async run(): Promise<void> {
    const { argv, flags, context, terminal } = await this.start(EnvelopesGet);
    const { signal } = context.interrupt;
    const ids = await readIds(argv.map(String), 'envelope ID', terminal);
    const client = await context.session.client();
    const historyOf = flags.history
      ? (await import('./get-history.ts')).historyReader(ids.ids, terminal)
      : undefined;
    const act = async (id: string) => {
      const envelope = await client.envelopes.get(id, signal);
      let successor: Envelope | undefined;
      if (!terminal.json) {
        const { successorOf } = await import('./replace/successor.ts');
        successor = await successorOf(envelope, { client, looks: !ids.stream }, context);
      }
      const history = await historyOf?.(envelope.id);
      return { envelope: history ? { ...envelope, history } : envelope, successor, history };
    };
    const show = async ({ envelope, successor, history }: Awaited<ReturnType<typeof act>>) => {
      const { renderDetails, renderEnvelope } = await import('./envelope-text.ts');
      const text = renderEnvelope(envelope, terminal, context.session.now(), successor);
      if (history === undefined) return text;
      const { renderHistory } = await import('./get-history.ts');
      const now = context.session.now();
      return `${text}\n${renderDetails(envelope, terminal, now)}${renderHistory(envelope, history, terminal, now)}`;
    };
    return forEachId({ ids, act, show }, context);
  }
}
