import { READ_CONCURRENCY } from '../../api/request-defaults.ts';
import type { Envelope } from '../../api/resource-types.ts';
import { Batch } from '../../cli/batch.ts';
import { EsignCommand } from '../../cli/command.ts';
import { reportOf } from '../../cli/error-report.ts';
import { booleanFlag, optionalArg } from '../../cli/flags.ts';
import { readIds } from '../../cli/input/ids.ts';
import type { Context } from '../../cli/session/context.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { writeJson } from '../../output/json.ts';

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

  async run(): Promise<void> {
    const { argv, flags, context, terminal } = await this.start(EnvelopesGet);
    const { ids, stream } = await readIds(argv.map(String), 'envelope ID', terminal);
    const client = await context.session.client();
    const historyOf = flags.history
      ? (await import('./get-history.ts')).historyReader(ids, terminal)
      : undefined;
    const read = async (id: string): Promise<Item> => {
      const envelope = await client.envelopes.get(id, context.interrupt.signal);
      if (textOf !== undefined) return { id, text: await textOf(envelope) };
      return {
        id,
        envelope: historyOf ? { ...envelope, history: (await historyOf(envelope.id)).accepted } : envelope,
      };
    };
    // Scripts may get the JSON of a thousand envelopes, so everything else is loaded late.
    const textOf = terminal.json
      ? undefined
      : (await import('./get-view.ts')).envelopeView({ client, historyOf }, context);
    await printEach(ids, { isSingle: !stream, read }, context);
  }
}

/** An envelope to print, as text or as JSON. */
interface Item {
  id: string;
  text?: string;
  envelope?: Envelope;
}

/** Prints a single envelope or throws its error. Of several, tries all. @throws PartialError if some can't be read */
async function printEach(
  ids: readonly string[],
  { isSingle, read }: { isSingle: boolean; read: (id: string) => Promise<Item> },
  context: Context,
): Promise<void> {
  const { terminal, interrupt } = context;
  const batch = new Batch(context);
  const attempt = (id: string): Promise<Item & { error?: unknown }> =>
    read(id).catch((error: unknown) => {
      if (isSingle || interrupt.signal.aborted) throw error;
      return { id, error };
    });
  for await (const { id, text, envelope, error } of mapInOrder(ids, READ_CONCURRENCY, attempt)) {
    if (error !== undefined)
      await batch.report({
        json: { id, ok: false, error: reportOf(error, terminal) },
        failure: { label: id, error },
      });
    else if (isSingle && envelope !== undefined) await writeJson(envelope, terminal.hidingSecrets());
    else await batch.report({ json: { id, ok: true, envelope }, text });
  }
  batch.end(ids.length);
}
