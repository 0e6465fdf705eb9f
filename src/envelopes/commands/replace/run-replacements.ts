import type { Client } from '../../../api/client.ts';
import { noteRefusal } from '../../../cli/dry-run.ts';
import { readWebhookSecret } from '../../../cli/input/secrets.ts';
import { withOutcomeCheck } from '../../../cli/outcome-check.ts';
import type { Context } from '../../../cli/session/context.ts';
import type { CommandTerminal } from '../../../cli/terminal.ts';
import type { WriteMemory } from '../../../log/write-memory.ts';
import { createBody } from '../../../once/create-body.ts';
import { writeJson } from '../../../output/json.ts';
import { executeReplacement, type ReplaceResult } from '../../replace/execute-replacement.ts';
import { replacementId } from '../../replace/find-replacement.ts';
import {
  planReplacement,
  type ReplacementPlan,
  type ReplaceRequest,
} from '../../replace/plan-replacement.ts';
import { checkSigners, showFindings } from '../confirm-concerns.ts';
import {
  type EnvelopeSecret,
  linkSecretToEnvelope,
  provideEnvelopeSecret,
  storedSecretOf,
} from '../create/webhook-secret.ts';
import { confirmReplacement, plannedWritesOf } from './confirm-replace.ts';
import type { ReplaceFlags } from './replace-flags.ts';
import { ReplaceProgress } from './replace-progress.ts';
import { alreadyReplacedText, renderPlan, renderReplaced, replacementNotes } from './replaced-text.ts';

/**
 * `envelopes replace`: replaces an envelope, or shows what would be done. It finds the completed steps of an earlier run, so
 * that the same command finishes the job and repeats nothing.
 */
export async function replaceFromFlags(id: string, flags: ReplaceFlags, context: Context): Promise<void> {
  if (flags['dry-run']) {
    const plan = await checkedPlan(id, flags, context);
    await showDryRun(plan, context.terminal);
    return noteRefusal(plannedWritesOf(plan), context);
  }
  const { correction, words } = await askedCorrection(id, flags, context);
  const replaced = await replaceEnvelope(id, { ...flags, ...correction }, context, words);
  const out = context.terminal.hidingSecrets();
  if (context.terminal.json) return writeJson(replaced, out);
  await out.out(renderReplaced(replaced, context, flags));
}

const CHANGES = [
  'signer',
  'add-signer',
  'remove-signer',
  'expires-in-days',
  'subject',
  'message',
  'template',
] as const;

/** On a terminal, asks what to correct if no flag says it. `words`: the command that does the same. */
async function askedCorrection(
  id: string,
  flags: ReplaceFlags,
  { session, terminal, interrupt }: Context,
): Promise<{ correction?: Partial<ReplaceFlags>; words: readonly string[] }> {
  const { words } = session;
  const isGiven = flags.yes || CHANGES.some((name) => flags[name] !== undefined);
  if (isGiven || !terminal.canAsk || terminal.json) return { words };
  const client = await session.client();
  const { askForCorrection, correctionAsFlags } = await import('./ask-for-correction.ts');
  const correction = await askForCorrection(await client.envelopes.get(id, interrupt.signal));
  return correction === undefined
    ? { words }
    : { correction, words: [...words, ...correctionAsFlags(correction)] };
}

interface PlannedReplacement {
  client: Client;
  memory: WriteMemory;
  request: ReplaceRequest;
  plan: ReplacementPlan;
}

async function planFrom(id: string, flags: ReplaceFlags, context: Context): Promise<PlannedReplacement> {
  const client = await context.session.client();
  const memory = await context.session.memory();
  const request = await requestOf(id, flags, context);
  const plan = await planReplacement(client, request, memory, context.interrupt.signal);
  return { client, memory, request, plan };
}

/** Returns the remaining steps, after checking the signers. Changes nothing. */
export async function checkedPlan(
  id: string,
  flags: ReplaceFlags,
  context: Context,
): Promise<ReplacementPlan> {
  const { plan } = await planFrom(id, flags, context);
  await check(plan, flags, context);
  return plan;
}

/** Replaces an envelope, or continues what an earlier run has started. On a terminal, shows the plan and asks first. */
export async function replaceEnvelope(
  id: string,
  flags: ReplaceFlags,
  context: Context,
  words = context.session.words,
): Promise<ReplaceResult> {
  const planned = await planFrom(id, flags, context);
  const { plan } = planned;
  const { old, made, steps } = plan;
  if (made) await linkSecretToEnvelope(made, context);
  if (made && steps.length === 0) {
    context.terminal.notice(alreadyReplacedText(old, made));
    return { old, new: made };
  }
  await check(plan, flags, context);
  await confirmReplacement(plan, flags.yes, context);
  return carryOutPlan(planned, context, words);
}

async function carryOutPlan(
  { client, memory, request, plan }: PlannedReplacement,
  context: Context,
  words: readonly string[],
): Promise<ReplaceResult> {
  const { old, wanted, made } = plan;
  const progress = new ReplaceProgress(plan, words);
  const open = { unknown: () => progress.unknown(), hint: () => progress.hint() };
  return withOutcomeCheck(open, context, async (running) => {
    const own = made
      ? undefined
      : await provideEnvelopeSecret(
          wanted,
          replacementId(old.id),
          context,
          await storedSecretOf(old.id, context),
        );
    const events = executeReplacement(plan, request, { client, memory, secret: own, ...running });
    try {
      return await runSteps(events, { own, progress }, context.terminal);
    } catch (error) {
      throw progress.errorOf(error, context.interrupt.signal);
    }
  });
}

async function requestOf(id: string, flags: ReplaceFlags, context: Context): Promise<ReplaceRequest> {
  return {
    id,
    draft: flags.draft === true,
    evenIfSigned: flags['even-if-signed'] === true,
    reason: flags.reason,
    changes: {
      templateId: flags.template,
      signers: flags.signer,
      added: flags['add-signer'],
      removed: flags['remove-signer'],
      subject: flags.subject,
      message: flags.message,
      expiresInDays: flags['expires-in-days'],
      webhookSecret: await secretFor(id, flags, context),
    },
  };
}

/** Returns the secret from the file, or from the environment if this machine has no secret of the original. The service never returns it. */
async function secretFor(id: string, flags: ReplaceFlags, context: Context): Promise<string | undefined> {
  const file = flags['webhook-secret-file'];
  const isNeeded = file !== undefined || (await storedSecretOf(id, context)) === undefined;
  return isNeeded ? readWebhookSecret(file, context.terminal) : undefined;
}

/** Follows a replacement and reports what is not obvious. */
async function runSteps(
  events: ReturnType<typeof executeReplacement>,
  { own, progress }: { own: EnvelopeSecret | undefined; progress: ReplaceProgress },
  terminal: CommandTerminal,
): Promise<ReplaceResult> {
  for (;;) {
    const next = await events.next();
    if (next.done) return next.value;
    if (next.value.type === 'made') await own?.link(next.value.envelope.id);
    progress.take(next.value);
    const said = progress.explain(next.value);
    if (said !== undefined) terminal.notice(said);
  }
}

/** Checks the signers, as long as the draft was not sent. */
async function check(
  { old, wanted, signers, made, steps }: ReplacementPlan,
  flags: ReplaceFlags,
  context: Context,
): Promise<void> {
  if (made && !steps.includes('cancel')) return;
  if (!made) {
    const isKept = (await storedSecretOf(old.id, context)) !== undefined;
    for (const note of replacementNotes(old, signers, { wanted, isKept })) context.terminal.notice(note);
  }
  const { 'allow-missing-roles': allowMissing = false, yes = false } = flags;
  const found = await checkSigners(wanted, allowMissing, context);
  // The question about the whole replacement comes later.
  showFindings(found, yes, context);
}

async function showDryRun(plan: ReplacementPlan, terminal: CommandTerminal): Promise<void> {
  const { old, made, steps, wanted } = plan;
  if (terminal.json) {
    const body = createBody(wanted, replacementId(old.id));
    const shown = { dryRun: true, action: 'replace', id: old.id, steps, old, new: made ?? null };
    return writeJson({ ...shown, body }, terminal.hidingSecrets());
  }
  const redact = (text: string) => terminal.redactor.redact(text);
  await terminal.out(`${renderPlan(plan, { style: terminal.style, redact })}Nothing was done.\n`);
}
