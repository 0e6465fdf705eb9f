import type { Template } from '../../api/resource-types.ts';
import { canAsk } from '../../cli/input/confirm.ts';
import type { Context } from '../../cli/session/context.ts';
import type { EsignError } from '../../kernel/errors.ts';
import type { EnvelopeInput } from '../../once/create-body.ts';
import { type Concern, findProblems, sortProblems } from '../envelope-problems.ts';
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
 * Shows findings. Returns true if the user can and should be asked about them.
 * @throws UsageError if something has to be confirmed where no terminal can ask.
 */
export function showFindings(
  { notes, concerns }: Findings,
  yes: boolean,
  { terminal }: Pick<Context, 'terminal'>,
): boolean {
  const asks = !yes && canAsk(terminal);
  const error = unconfirmedError(concerns, yes);
  if (error !== undefined && !asks) throw error;
  for (const text of [...notes, ...concerns.map((one) => one.text)]) terminal.notice(text);
  return asks && concerns.length > 0;
}

/** Returns the error of the first concern that has to be confirmed. */
export function unconfirmedError(concerns: readonly Concern[], yes: boolean): EsignError | undefined {
  return concerns.find((one) => one.error !== undefined && !(yes && one.coveredByYes))?.error;
}
