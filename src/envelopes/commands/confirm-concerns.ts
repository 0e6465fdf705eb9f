import type { Template } from '../../api/schemas.ts';
import { canAsk, questionAbout, requireConfirmation } from '../../cli/input/confirm.ts';
import type { Context } from '../../cli/session/context.ts';
import type { EsignError } from '../../kernel/errors.ts';
import type { EnvelopeInput } from '../../once/create-body.ts';
import { type Concern, findProblems, sortProblems } from '../completeness.ts';
import { readTemplate, rolesShownBy } from './template-roles.ts';

/** What was found before a write. */
interface Findings {
  /** Only shown. */
  notes: readonly string[];
  concerns: readonly Concern[];
}

/** Checks the signers of a new envelope. @throws UsageError for a role that the template doesn't have. */
export async function checkSigners(
  { templateId, signers }: EnvelopeInput,
  allowMissing: boolean,
  context: Context,
): Promise<Findings & { template: Template | undefined }> {
  const template = await readTemplate(templateId, context);
  return { ...sortProblems(findProblems(signers, rolesShownBy(template)), allowMissing), template };
}

/**
 * Shows findings, and asks about them on a terminal. Without a `question`, they are only shown there, because the command asks later or
 * this is a dry run.
 * @throws UsageError if something has to be confirmed where no terminal can ask, or the answer is no.
 */
export async function confirmConcerns(
  { notes, concerns }: Findings,
  { yes, question, otherwise }: { yes: boolean; question?: string | undefined; otherwise: string },
  context: Context,
): Promise<void> {
  const { terminal } = context;
  const asks = !yes && canAsk(terminal);
  const error = unconfirmedError(concerns, yes);
  if (error !== undefined && !asks) throw error;
  for (const text of [...notes, ...concerns.map((one) => one.text)]) terminal.notice(text);
  if (asks && question !== undefined && concerns.length > 0)
    await requireConfirmation(await questionAbout(question, context), { yes: false, otherwise }, context);
}

/** Returns the error of the first concern that has to be confirmed. */
export function unconfirmedError(concerns: readonly Concern[], yes: boolean): EsignError | undefined {
  return concerns.find((one) => one.error !== undefined && !(yes && one.coveredByYes))?.error;
}
