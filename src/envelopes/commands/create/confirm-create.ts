import { noteRefusal } from '../../../cli/dry-run.ts';
import { accountText, canAsk, confirmWrites, peopleAt } from '../../../cli/input/confirm.ts';
import type { Context } from '../../../cli/session/context.ts';
import { createBody, type EnvelopeInput, newRequestId, plannedCreate } from '../../../once/create-body.ts';
import { writeJson } from '../../../output/json.ts';
import { checkSigners, showFindings } from '../confirm-concerns.ts';
import type { CreateFlags } from './create-flags.ts';
import type { EnvelopeToCreate } from './create-input.ts';
import { renderDryRun } from './envelope-preview.ts';
import { lookBeforeSending } from './look-before-sending.ts';

/**
 * Checks the signers and the guards, and asks about what was found. After the prompts, only the guards are left.
 * @throws UsageError if something isn't confirmed; GuardError if the profile doesn't allow it.
 */
export async function confirmCreate(
  { envelope, isComposed }: EnvelopeToCreate,
  { yes, 'allow-missing-roles': allowMissing }: CreateFlags,
  context: Context,
): Promise<void> {
  const asks =
    !isComposed && showFindings(await findConcerns(envelope, { yes, allowMissing }, context), yes, context);
  const people = peopleAt(envelope.signers.map(({ email }) => email));
  const what = envelope.send ? `Create it and email ${people} anyway` : 'Create it anyway';
  const question = { what, yes, otherwise: 'nothing was created' };
  await confirmWrites([plannedCreate(envelope)], asks ? question : undefined, context);
}

/** Checks the signers. Where the user can be asked before an envelope is sent, also looks at what is known about them. */
async function findConcerns(
  envelope: EnvelopeInput,
  { yes, allowMissing }: { yes: boolean; allowMissing: boolean },
  context: Context,
): ReturnType<typeof checkSigners> {
  const found = await checkSigners(envelope, allowMissing, context);
  if (!envelope.send || yes || !canAsk(context.terminal)) return found;
  const { notes, repeats } = await lookBeforeSending(envelope, context);
  return {
    ...found,
    notes: [...found.notes, ...notes],
    concerns: [...found.concerns, ...(repeats === undefined ? [] : [{ text: repeats }])],
  };
}

/** Shows the envelope of a dry run on a terminal. After the prompts, which have shown it, and elsewhere, prints the request. */
export async function showRequest(
  { envelope, isComposed }: EnvelopeToCreate,
  flags: CreateFlags,
  context: Context,
): Promise<void> {
  const { terminal } = context;
  const { yes, 'allow-missing-roles': allowMissing } = flags;
  const found = isComposed ? undefined : await findConcerns(envelope, { yes, allowMissing }, context);
  if (found !== undefined) showFindings(found, yes, context);
  if (found === undefined || terminal.json || !terminal.outIsTty) {
    const body = createBody(envelope, flags['request-id'] ?? newRequestId());
    await writeJson({ dryRun: true, body }, terminal.hidingSecrets());
  } else {
    const account = await accountText(context.session);
    const { template } = found;
    await terminal.out(renderDryRun({ envelope, template, account }, terminal));
  }
  await noteRefusal([plannedCreate(envelope)], context);
}
