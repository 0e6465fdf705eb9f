import type { Client } from '../../api/client.ts';
import type { Envelope, Signer } from '../../api/schemas.ts';
import type { Context } from '../../cli/context.ts';
import { canAsk, confirmed } from '../../cli/input/confirm.ts';
import type { Ids } from '../../cli/input/ids.ts';
import type { SelectionFlagValues } from '../../cli/selection/flags.ts';
import { readNamedOrSelected } from '../../cli/selection/named-or-selected.ts';
import { cancelEnvelope, isCancellable, sendEnvelope } from '../../envelopes/actions.ts';
import { findProblems, type SignerProblem } from '../../envelopes/completeness.ts';
import { notToCancel, notToRemind, notToSend } from '../../envelopes/left-out.ts';
import { whoseTurn } from '../../envelopes/named-signer.ts';
import { remindWithGap } from '../../envelopes/reminders.ts';
import { readQuietly } from '../../envelopes/write-outcome.ts';
import { counted } from '../../kernel/duration.ts';
import { EsignError, ServiceError, sentenceOf } from '../../kernel/errors.ts';
import { canBeReminded, canBeSent } from '../../kernel/vocabulary.ts';
import { actionOnce, remindAction } from './actions.ts';
import { confirmProblems, TemplateRoles } from './create/completeness.ts';

import { forEachId } from './each.ts';
import { nameOf } from './list/view.ts';
import { type BatchPreview, confirmBatch, showDryRun } from './preview.ts';
import { RecentReminders } from './recent-reminders.ts';
import { withReminderLog } from './reminder-log.ts';
import { renderDone } from './view.ts';

export interface ActFlags extends Omit<SelectionFlagValues, 'signer'> {
  yes: boolean;
  'dry-run': boolean;
}

const SEND: BatchPreview = {
  action: 'send',
  question: 'Send',
  verb: 'sent',
  can: canBeSent,
};
const REMIND: BatchPreview = {
  action: 'remind',
  question: 'Send reminders for',
  verb: 'reminded',
  can: canBeReminded,
};

/** `envelopes send`: sends drafts, after a confirmation if a role has no signer. */
export async function sendDrafts(
  words: readonly string[],
  flags: ActFlags & SelectionFlagValues & { 'allow-missing-roles': boolean },
  context: Context,
): Promise<void> {
  // The sent envelopes of a run show which drafts are duplicates.
  const query = flags.run === undefined ? flags : { ...flags, status: undefined };
  const leaveOut = (envelopes: readonly Envelope[]) => notToSend(envelopes, flags.status);
  const { ids, selected } = await readNamedOrSelected(words, query, leaveOut, context);
  if (isNothingSelected(ids, selected)) return;
  const batch: BatchPreview = { ...SEND, known: selected };
  const client = await context.session.client();
  const check = new DraftCheck(flags['allow-missing-roles'], client, context);
  if (flags['dry-run']) {
    for (const id of ids.ids) await check.dryRun(id, ids.stream);
    return showDryRun(ids, batch, client, context);
  }
  await client.writes.check(ids.ids.map((envelopeId) => ({ action: 'send', envelopeId })));
  const warnings = async (envelope: Envelope) => (await check.findProblems(envelope)).map(({ text }) => text);
  const confirmation = await confirmAction(ids, { ...batch, warnings }, { flags, client, context });
  const [only] = ids.ids;
  // For a single envelope, asks before it is sent.
  if (!ids.stream && only !== undefined) await check.pass(only, !flags.yes);
  const isChecked = !ids.stream || confirmation.isShown;
  await client.writes.confirm();
  await forEachId(
    {
      ids: confirmation.ids,
      act: async (id) => {
        if (!isChecked) await check.pass(id, false);
        return sendEnvelope(client, id, context.interrupt.signal);
      },
      show: (envelope) => renderDone('sent', envelope, whoseTurn(envelope), context.terminal),
      action: actionOnce('sent', ids, context.session.words),
    },
    context,
  );
}

/** `envelopes cancel`. */
export async function cancelEnvelopes(
  words: readonly string[],
  flags: ActFlags & SelectionFlagValues & { reason: string | undefined; 'even-if-declined': boolean },
  context: Context,
): Promise<void> {
  const evenIfDeclined = flags['even-if-declined'];
  const leaveOut = (envelopes: readonly Envelope[]) => notToCancel(envelopes, evenIfDeclined);
  const { ids, selected } = await readNamedOrSelected(words, flags, leaveOut, context);
  if (isNothingSelected(ids, selected)) return;
  const client = await context.session.client();
  const batch: BatchPreview = {
    action: 'cancel',
    question: 'Cancel',
    verb: 'canceled',
    can: (status) => isCancellable(status, evenIfDeclined),
    known: selected,
  };
  if (flags['dry-run']) return showDryRun(ids, batch, client, context);
  await client.writes.check(ids.ids.map((envelopeId) => ({ action: 'cancel', envelopeId })));
  const confirmation = await confirmAction(ids, batch, { flags, client, context });
  const [only] = ids.ids;
  const isOne = !ids.stream && only !== undefined;
  // For a single envelope, asks before it is canceled.
  if (isOne && !evenIfDeclined) await confirmCancelDeclined(only, !flags.yes, client, context);
  const isChecked = isOne || confirmation.isShown || evenIfDeclined;
  await forEachId(
    {
      ids: confirmation.ids,
      act: async (id) => {
        if (!isChecked) await confirmCancelDeclined(id, false, client, context);
        return cancelEnvelope(client, id, flags.reason, context.interrupt.signal);
      },
      show: (envelope) => renderDone('canceled', envelope, envelope.signers ?? [], context.terminal),
      action: actionOnce('canceled', ids, context.session.words),
    },
    context,
  );
}

/**
 * Asks before a cancellation hides a decline.
 * @throws ServiceError INVALID_STATE without a terminal.
 */
async function confirmCancelDeclined(
  id: string,
  asks: boolean,
  client: Client,
  context: Context,
): Promise<void> {
  const envelope = await readIfAllowed(id, client, context);
  if (envelope?.status !== 'DECLINED') return;
  const decliner = envelope.signers?.find((one) => one.status === 'DECLINED');
  const what = `${id} was declined${decliner ? ` by ${nameOf(decliner)}` : ''}. A canceled envelope no longer shows that`;
  if (!asks || !context.terminal.canAsk)
    throw new ServiceError('INVALID_STATE', `${what}.`, {
      status: 400,
      hint: 'Nothing was changed. Add --even-if-declined to cancel it anyway.',
    });
  context.terminal.notice(`${what}.`);
  await confirmed(`Cancel ${id}?`, { yes: false, otherwise: 'nothing was changed' }, context);
}

/** Returns undefined if the key can't read envelopes. */
async function readIfAllowed(
  id: string,
  client: Client,
  { interrupt: { signal } }: Context,
): Promise<Envelope | undefined> {
  try {
    return await client.envelopes.get(id, signal);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'FORBIDDEN') return undefined;
    throw error;
  }
}

/** `envelopes remind`. */
export async function remindSigners(
  words: readonly string[],
  flags: ActFlags & { signer: string | undefined; 'min-gap': number | undefined },
  context: Context,
): Promise<void> {
  const { signer, 'min-gap': gapMs, ...rest } = flags;
  const leaveOut = (envelopes: readonly Envelope[]) => notToRemind(envelopes, signer);
  const { ids, selected } = await readNamedOrSelected(words, rest, leaveOut, context);
  if (isNothingSelected(ids, selected)) return;
  const batch: BatchPreview = { ...REMIND, known: selected };
  const client = await context.session.client();
  if (flags['dry-run']) return showDryRun(ids, batch, client, context);
  await client.writes.check(ids.ids.map((envelopeId) => ({ action: 'remind', envelopeId, signer })));
  // --min-gap already decides which reminders are too soon.
  const recent = gapMs === undefined ? await RecentReminders.read(signer, context) : undefined;
  const warningsFor = (id: string) => recent?.of(id) ?? [];
  const warnings = (envelope: Envelope) => Promise.resolve(warningsFor(envelope.id));
  const confirmation = await confirmAction(ids, { ...batch, warnings }, { flags, client, context });
  if (!confirmation.isShown && recent !== undefined) {
    const [known] = ids.ids.filter((id) => recent.knows(id));
    // Reminders are dated by the service's clock, which only a reply shows.
    if (known !== undefined) await readQuietly(client, known, context.interrupt.signal);
    await warnAboutRecent(ids, warningsFor, flags, context);
  }
  await client.writes.confirm();
  const emailed = new Map<string, readonly Signer[]>();
  await withReminderLog(context, { required: (gapMs ?? 0) > 0 }, (log) =>
    forEachId(
      {
        ids: confirmation.ids,
        act: async (id) => {
          const wanted = { id, signer, gapMs: gapMs ?? 0 };
          const { reminded, ...acted } = await remindWithGap(client, log, wanted, context.interrupt.signal);
          emailed.set(id, reminded);
          return acted;
        },
        show: (envelope) =>
          renderDone('reminded', envelope, emailed.get(envelope.id) ?? [], context.terminal),
        action: remindAction(ids, context.session.words),
      },
      context,
    ),
  );
}

/** Reports who was reminded a moment ago; on a terminal, asks whether to email them again. */
async function warnAboutRecent(
  ids: Ids,
  warningsFor: (id: string) => readonly string[],
  { yes }: ActFlags,
  context: Context,
): Promise<void> {
  const texts = ids.ids.flatMap((id) => warningsFor(id).map((text) => `${id}: ${text}`));
  for (const text of texts) context.terminal.notice(text);
  const { fromStdin } = ids;
  if (texts.length === 0 || yes || !canAsk(context.terminal, fromStdin) || context.terminal.json) return;
  await confirmed('Send another reminder?', { yes, otherwise: 'nothing was sent', fromStdin }, context);
}

/** Returns true for a selection without envelopes, which a notice has already reported. */
function isNothingSelected({ ids }: Ids, selected: ReadonlyMap<string, Envelope> | undefined): boolean {
  return selected !== undefined && ids.length === 0;
}

interface Confirmation {
  ids: Ids;
  /** The envelopes were shown, each with its problems. */
  isShown: boolean;
}

/** Asks for confirmation before several envelopes are sent, canceled, or reminded. */
async function confirmAction(
  ids: Ids,
  batch: BatchPreview,
  { flags, client, context }: { flags: ActFlags; client: Client; context: Context },
): Promise<Confirmation> {
  if (ids.ids.length <= 1 || flags.yes || (await client.writes.isConfirmed())) return { ids, isShown: false };
  if (batch.known !== undefined || canAsk(context.terminal, ids.fromStdin))
    return { ids: await confirmBatch(ids, batch, client, context), isShown: true };
  const question = `${batch.question} ${counted(ids.ids.length, 'envelope')}?`;
  const { fromStdin } = ids;
  await confirmed(question, { yes: false, otherwise: 'nothing was sent or changed', fromStdin }, context);
  return { ids, isShown: false };
}

/** Finds problems of drafts before they are sent. Reads each template once. */
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

  async findProblems({ status, templateId, signers }: Envelope): Promise<SignerProblem[]> {
    // For other statuses, the service's error explains why the envelope can't be sent.
    if (status !== 'DRAFT' || !signers) return [];
    const roles = await this.#roles.ifShown(templateId);
    return findProblems(signers, roles);
  }

  /** Throws the error of a single envelope; prints it for one of several. */
  async dryRun(id: string, isOneOfSeveral: boolean): Promise<void> {
    try {
      await this.pass(id, 'later');
    } catch (error) {
      if (!isOneOfSeveral || !(error instanceof EsignError)) throw error;
      this.#context.terminal.notice(`${id}: ${sentenceOf(error)}`);
    }
  }

  async pass(id: string, asks: boolean | 'later'): Promise<void> {
    const envelope = await readIfAllowed(id, this.#client, this.#context);
    if (envelope === undefined) return;
    const warnings = await this.findProblems(envelope);
    const options = {
      allowMissing: this.#allowMissing,
      asks,
      question: 'Send it anyway?',
      otherwise: 'nothing was sent',
    };
    await confirmProblems(warnings, options, this.#context);
  }
}
