import type { Client } from '../../api/client.ts';
import { READ_CONCURRENCY } from '../../api/defaults.ts';
import type { Envelope } from '../../api/schemas.ts';
import { EsignCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { noteRefusal, writeDryRun } from '../../cli/dry-run.ts';
import { dryRunFlag, requiredArg, textFlag, yesFlag } from '../../cli/flags.ts';
import { confirmed } from '../../cli/input/confirm.ts';
import { readIfExists } from '../../envelopes/marked-envelopes.ts';
import { findByRequestId } from '../../envelopes/request-ids/search.ts';
import { cancelEnvelope } from '../../envelopes/write-outcome.ts';
import { counted, listed } from '../../kernel/duration.ts';
import { ServiceError, UsageError } from '../../kernel/errors.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { canBeCanceled, hasSigned } from '../../kernel/vocabulary.ts';
import type { LoggedWrite } from '../../log/entry.ts';
import { logFolder } from '../../log/files.ts';
import { inColumns, safeLine } from '../../output/text.ts';
import { forEachId } from '../envelopes/each.ts';
import { nameOf } from '../envelopes/list/view.ts';
import { renderDone } from '../envelopes/view.ts';
import { writesOf } from './entries.ts';

export default class LogUndo extends EsignCommand {
  static override summary = 'Cancel the envelopes that a log entry created or sent.';
  static override description =
    "Shows the envelopes and who has signed, asks for confirmation, and cancels them. Completed envelopes are not changed. Emails can't be taken back.";
  static override examples = [
    '<%= config.bin %> log undo log_0123456789ab',
    '<%= config.bin %> log undo log_0123456789ab --reason "wrong list" --yes',
    '<%= config.bin %> log undo log_0123456789ab --dry-run',
  ];
  static override args = {
    id: requiredArg('entry ID, from `esign log`'),
  };
  static override flags = {
    reason: textFlag('TEXT', 'reason, stored with the envelopes'),
    yes: yesFlag,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(LogUndo);
    const { id } = args;
    const write = await findWrite(id);
    const client = await clientOf(write, context);
    const envelopes = await envelopesOf(write, client, context.interrupt.signal);
    const open = envelopes.filter(({ status }) => canBeCanceled(status ?? '', false));
    if (open.length === 0) throw nothingToUndo(id, envelopes);
    const ids = open.map((one) => one.id);
    const writes = ids.map((envelopeId) => ({ action: 'cancel', envelopeId }) as const);
    if (flags['dry-run']) {
      await writeDryRun(ids, 'cancel', context.terminal);
      return noteRefusal(writes, context);
    }
    await client.checkWrites(writes);
    showEnvelopes(open, envelopes, context);
    const question = `Cancel ${counted(ids.length, 'envelope')}?`;
    await confirmed(question, { yes: flags.yes, otherwise: 'nothing was canceled' }, context);
    const again = command('log', 'undo', id);
    await forEachId(
      {
        ids: { ids, stream: envelopes.length > 1, fromStdin: false },
        act: (one) => cancelEnvelope(client, one, flags.reason, context.interrupt.signal),
        show: ({ envelope }) => renderDone('canceled', envelope, envelope.signers ?? [], context.terminal),
        action: { done: 'canceled', ifUnknown: () => `Run it again: \`${again}\`.`, again: () => again },
      },
      context,
    );
  }
}

/** The maximum number of rows shown. More would push the question off the screen. */
const SHOWN_MAX = 20;

async function findWrite(id: string): Promise<LoggedWrite> {
  const { writes } = await writesOf(logFolder(stateDir()));
  const found = writes.find(({ entry }) => entry.id === id);
  if (found !== undefined) return found;
  throw new ServiceError('NOT_FOUND', `The log has no entry ${id}.`, {
    status: 404,
    hint: 'List the entries with `esign log`.',
  });
}

/** Creates a client for the entry's profile. @throws UsageError if the entry belongs to another service. */
async function clientOf({ entry }: LoggedWrite, { session }: Context): Promise<Client> {
  const settings = await session.settings(entry.profile === null ? {} : { fallbackProfile: entry.profile });
  const baseUrl = settings.baseUrl?.value;
  if (baseUrl !== undefined && baseUrl !== entry.baseUrl)
    throw new UsageError(
      `${entry.id} is a write to ${entry.baseUrl}, but the current base URL is ${baseUrl}.`,
      {
        hint: 'Select its profile with --profile.',
      },
    );
  return session.client();
}

/** Returns the envelopes that the entry created or sent, as they are now. Those that no longer exist are left out. */
async function envelopesOf(
  { entry, action }: LoggedWrite,
  client: Client,
  signal: AbortSignal,
): Promise<Envelope[]> {
  if ((action !== 'create' && action !== 'send') || entry.outcome === 'refused') return [];
  if (entry.envelopeIds.length === 0 && entry.requestId !== null) {
    const found = await findByRequestId(client, entry.requestId, { signal });
    return found === undefined ? [] : [found];
  }
  const read = (id: string) => readIfExists(client, id, signal);
  const envelopes: Envelope[] = [];
  for await (const envelope of mapInOrder(entry.envelopeIds, READ_CONCURRENCY, read))
    if (envelope !== undefined) envelopes.push(envelope);
  return envelopes;
}

function nothingToUndo(id: string, envelopes: readonly Envelope[]): ServiceError {
  const states = envelopes.slice(0, SHOWN_MAX).map((one) => `${one.id} is ${one.status ?? 'unknown'}`);
  const why = states.length === 0 ? "it didn't create or send anything" : listed(states);
  return new ServiceError('INVALID_STATE', `Nothing to undo in ${id}: ${why}.`, {
    status: 400,
    hint: 'Only envelopes that an entry created or sent, and that are still open, can be canceled.',
  });
}

/** Shows which envelopes will be canceled and who has signed, and which are left alone. */
function showEnvelopes(open: readonly Envelope[], all: readonly Envelope[], { terminal }: Context): void {
  if (terminal.json) return;
  const shown = (text: string) => safeLine(terminal.redactor.redact(text));
  const lines = inColumns(open.slice(0, SHOWN_MAX).map((one) => cellsOf(one).map(shown)));
  const more = open.length > SHOWN_MAX ? [`… and ${open.length - SHOWN_MAX} more`] : [];
  const left = all.filter((one) => !open.includes(one));
  const kept = left
    .slice(0, SHOWN_MAX)
    .map((one) => shown(`Not changed: ${one.id} is ${one.status ?? 'unknown'}.`));
  terminal.err([...lines, ...more, ...kept].map((line) => `${line}\n`).join(''));
}

function cellsOf({ id, status, subject, templateName, signers }: Envelope): string[] {
  const signed = (signers ?? []).filter(hasSigned).map(nameOf);
  const who = signed.length === 0 ? 'no one has signed' : `signed by ${listed(signed)}`;
  return [id, status ?? '', subject || templateName || '', who];
}
