import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/schemas.ts';
import { cancelEnvelope, sendEnvelope } from '../../envelopes/actions.ts';
import { type Remark, remarksOn } from '../../envelopes/completeness.ts';
import { remindWithGap } from '../../envelopes/reminders.ts';
import { readQuietly } from '../../envelopes/settle.ts';
import { counted } from '../../kernel/duration.ts';
import { EsignError, ServiceError, sentenceOf } from '../../kernel/errors.ts';
import type { Context } from '../context.ts';
import { writeDryRun } from '../dry-run.ts';
import { confirmed } from '../input/confirm.ts';
import { type Ids, readIds } from '../input/ids.ts';
import { actionOnce, reminding } from './actions.ts';
import { passRemarks, TemplateRoles } from './create/completeness.ts';
import { confirmSeveral, type Several } from './create/preview.ts';
import { forEachId } from './each.ts';
import { RecentReminders } from './recent-reminders.ts';
import { withReminderLog } from './reminder-log.ts';
import { renderAction } from './view.ts';

export interface ActFlags {
  yes: boolean;
  'dry-run': boolean;
}

/** `envelopes send`: drafts go to their signers, once nothing about them is incomplete or somebody said so. */
export async function sendDrafts(
  words: readonly string[],
  flags: ActFlags & { 'allow-missing-roles': boolean },
  context: Context,
): Promise<void> {
  const ids = await readIds(words, 'envelope id');
  const client = await context.client();
  const check = new DraftCheck(flags['allow-missing-roles'], client, context);
  if (flags['dry-run']) {
    for (const id of ids.ids) await check.dryRun(id, ids.stream);
    return writeDryRun(ids, 'send', context);
  }
  const agreed = await agreeOn(
    ids,
    {
      question: 'Send',
      verb: 'sent',
      can: (status) => status === 'DRAFT',
      remarks: async (envelope) => (await check.remarksOn(envelope)).map(({ text }) => text),
    },
    { flags, client, context },
  );
  const [only] = ids.ids;
  // One alone is asked about before it is under way.
  if (!ids.stream && only !== undefined) await check.pass(only, !flags.yes);
  const isChecked = !ids.stream || agreed.isShown;
  await forEachId(
    {
      ids: agreed.ids,
      act: async (id) => {
        if (!isChecked) await check.pass(id, false);
        return sendEnvelope(client, id, context.signal);
      },
      show: (envelope) => renderAction('Sent', envelope, context.terminal),
      action: actionOnce('sent', ids),
    },
    context,
  );
}

/** `envelopes cancel`. */
export async function cancelEnvelopes(
  words: readonly string[],
  flags: ActFlags & { reason: string | undefined },
  context: Context,
): Promise<void> {
  const ids = await readIds(words, 'envelope id');
  const client = await context.client();
  if (flags['dry-run']) return writeDryRun(ids, 'cancel', context);
  const agreed = await agreeOn(
    ids,
    { question: 'Cancel', verb: 'cancelled', can: (status) => !ENDED_FOR_GOOD.has(status) },
    { flags, client, context },
  );
  await forEachId(
    {
      ids: agreed.ids,
      act: (id) => cancelEnvelope(client, id, flags.reason, context.signal),
      show: (envelope) => renderAction('Cancelled', envelope, context.terminal),
      action: actionOnce('cancelled', ids),
    },
    context,
  );
}

/** What can't be cancelled any more (API document, States). */
const ENDED_FOR_GOOD = new Set(['COMPLETED', 'CANCELLED', 'EXPIRED']);

/** `envelopes remind`. */
export async function remindSigners(
  words: readonly string[],
  flags: ActFlags & { signer: string | undefined; 'min-gap': number | undefined },
  context: Context,
): Promise<void> {
  const ids = await readIds(words, 'envelope id');
  const client = await context.client();
  if (flags['dry-run']) return writeDryRun(ids, 'remind', context);
  const { signer, 'min-gap': gapMs } = flags;
  // Whoever gives a gap has said how soon is too soon.
  const recent = gapMs === undefined ? await RecentReminders.read(signer, context) : undefined;
  const told = (id: string) => recent?.of(id) ?? [];
  const agreed = await agreeOn(
    ids,
    {
      question: 'Mail reminders for',
      verb: 'reminded',
      can: (status) => status === 'SENT' || status === 'IN_PROGRESS',
      remarks: (envelope) => Promise.resolve(told(envelope.id)),
    },
    { flags, client, context },
  );
  if (!agreed.isShown && recent !== undefined) {
    const [known] = ids.ids.filter((id) => recent.knows(id));
    // Only a reply tells the service's time, by which a reminder is as old as it is.
    if (known !== undefined) await readQuietly(client, known, context.signal);
    await tellRecent(ids, told, flags, context);
  }
  await withReminderLog(context, { required: (gapMs ?? 0) > 0 }, (log) =>
    forEachId(
      {
        ids: agreed.ids,
        act: (id) => remindWithGap(client, log, { id, signer, gapMs: gapMs ?? 0 }, context.signal),
        show: (envelope) => renderAction('Reminded', envelope, context.terminal),
        action: reminding(ids),
      },
      context,
    ),
  );
}

/** Tells who was reminded a moment ago; on a terminal it is asked whether they are to have another mail. */
async function tellRecent(
  ids: Ids,
  told: (id: string) => readonly string[],
  { yes }: ActFlags,
  context: Context,
): Promise<void> {
  const texts = ids.ids.flatMap((id) => told(id).map((text) => `${id}: ${text}`));
  for (const text of texts) context.notice(text);
  if (texts.length === 0 || yes || !context.terminal.canAsk || context.json) return;
  await confirmed('Mail another reminder?', { yes, otherwise: 'nothing was sent' }, context);
}

interface Agreed {
  ids: Ids;
  /** The envelopes were shown, with what is to be said of each. */
  isShown: boolean;
}

/** More than one envelope is mailed or cancelled only when somebody agreed. */
async function agreeOn(
  ids: Ids,
  several: Several,
  { flags, client, context }: { flags: ActFlags; client: Client; context: Context },
): Promise<Agreed> {
  if (ids.ids.length <= 1 || flags.yes) return { ids, isShown: false };
  if (context.terminal.canAsk)
    return { ids: await confirmSeveral(ids, several, client, context), isShown: true };
  const question = `${several.question} ${counted(ids.ids.length, 'envelope')}?`;
  await confirmed(question, { yes: false, otherwise: 'nothing was sent or changed' }, context);
  return { ids, isShown: false };
}

/** What is to be said of drafts before they are sent; each template is asked for once. */
class DraftCheck {
  readonly #roles: TemplateRoles;
  readonly #allowMissing: boolean;
  readonly #client: Client;
  readonly #context: Context;

  constructor(allowMissing: boolean, client: Client, context: Context) {
    this.#roles = new TemplateRoles(client, context);
    this.#allowMissing = allowMissing;
    this.#client = client;
    this.#context = context;
  }

  async remarksOn({ status, templateId, signers }: Envelope): Promise<Remark[]> {
    // The service says better why any other one can't be sent.
    if (status !== 'DRAFT' || !signers) return [];
    const roles = await this.#roles.ifTold(templateId);
    return remarksOn(signers, roles);
  }

  /** What would stop it is an error of one, and told of each of several. */
  async dryRun(id: string, isOneOfSeveral: boolean): Promise<void> {
    try {
      await this.pass(id, 'later');
    } catch (error) {
      if (!isOneOfSeveral || !(error instanceof EsignError)) throw error;
      this.#context.notice(`${id}: ${sentenceOf(error)}`);
    }
  }

  async pass(id: string, asks: boolean | 'later'): Promise<void> {
    const envelope = await this.#read(id);
    if (envelope === undefined) return;
    const remarks = await this.remarksOn(envelope);
    const passing = {
      allowMissing: this.#allowMissing,
      asks,
      question: 'Send it all the same?',
      otherwise: 'nothing was sent',
    };
    await passRemarks(remarks, passing, this.#context);
  }

  /** Undefined for a key that may write and not read. */
  async #read(id: string): Promise<Envelope | undefined> {
    try {
      return await this.#client.envelopes.get(id, this.#context.signal);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'FORBIDDEN') return undefined;
      throw error;
    }
  }
}
