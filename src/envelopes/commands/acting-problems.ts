import type { Template } from '../../api/schemas.ts';
import { canAsk, confirmed } from '../../cli/input/confirm.ts';
import { type EsignError, ServiceError, UsageError } from '../../kernel/errors.ts';
import type { Context } from '../../session/context.ts';
import { sentRoles } from '../../templates/roles.ts';
import { type EnvelopeProblem, findProblems, type KnownRoles } from '../completeness.ts';
import type { EnvelopeInput } from '../create.ts';

/** Returns a function that returns the roles of templates, each of which is read once. */
export function rolesReader(context: Context): (templateId: string) => Promise<KnownRoles> {
  const templates = new Map<string, Promise<Template | undefined>>();
  return async (id) => {
    const template = templates.get(id) ?? readTemplate(id, context);
    templates.set(id, template);
    return rolesShownBy(await template);
  };
}

/** Returns undefined if the key can't read templates. */
async function readTemplate(
  id: string,
  { session, terminal, interrupt }: Context,
): Promise<Template | undefined> {
  try {
    return await (await session.client()).templates.get(id, interrupt.signal);
  } catch (error) {
    // Some keys can write but not read.
    if (!(error instanceof ServiceError) || error.code !== 'FORBIDDEN') throw error;
    terminal.notice(`The roles in ${id} were not checked because the key can't read templates.`);
    return undefined;
  }
}

/** Returns the roles that the template defines; none without a template. */
function rolesShownBy(template: Template | undefined): KnownRoles {
  return { names: template === undefined ? [] : sentRoles(template), inferred: false };
}

export interface ProblemOptions {
  /** --allow-missing-roles: a role without a signer is only a warning. */
  allowMissing?: boolean;
  /** --yes: what would be lost was confirmed. */
  yes?: boolean;
  /** Asks on a terminal. `later`: a dry run, so the question is left to the real run. */
  asks: boolean | 'later';
  /** Such as `Create it anyway?`. */
  question: string;
  /** The consequence of answering no, such as `nothing was created`. */
  otherwise: string;
  /** The envelope, for notices that don't name it. */
  id?: string;
  /** Whether stdin was used for something else, such as IDs. */
  fromStdin?: boolean;
  /** Returns the error for problems that have to be confirmed, where no terminal can ask. */
  refusal?: (text: string) => EsignError;
}

/** Confirms the problems of an envelope's signers before it is created. Returns them, and the template. @throws as `confirmProblems` */
export async function checkSigners(
  { templateId, signers }: EnvelopeInput,
  options: ProblemOptions,
  context: Context,
): Promise<{ problems: EnvelopeProblem[]; template: Template | undefined }> {
  const template = await readTemplate(templateId, context);
  const problems = findProblems(signers, rolesShownBy(template));
  await confirmProblems(problems, options, context);
  return { problems, template };
}

/**
 * Reports the problems of an envelope, and asks for confirmation on a terminal.
 * @throws UsageError if a problem can't be confirmed, the answer is no, or one has to be confirmed and no terminal can ask.
 */
export async function confirmProblems(
  problems: readonly EnvelopeProblem[],
  {
    allowMissing = false,
    yes = false,
    asks,
    question,
    otherwise,
    id,
    fromStdin = false,
    refusal,
  }: ProblemOptions,
  { terminal }: Pick<Context, 'terminal'>,
): Promise<void> {
  const texts = (weight: EnvelopeProblem['weight']) =>
    problems.filter((one) => one.weight === weight).map((one) => one.text);
  const nothing = `${otherwise.charAt(0).toUpperCase()}${otherwise.slice(1)}.`;
  const [wrong, incomplete] = [texts('wrong').join('\n'), texts('incomplete').join('\n')];
  if (wrong !== '') throw new UsageError(wrong, { hint: nothing });
  const asksNow = asks !== false && canAsk(terminal, fromStdin) && !terminal.json;
  if (incomplete !== '' && !allowMissing && !asksNow)
    throw (
      refusal?.(incomplete) ??
      new UsageError(incomplete, {
        hint: `Add a signer for each role, such as 'Ada <ada@example.com>;role=ROLE', or pass --allow-missing-roles. ${nothing}`,
      })
    );
  const destructive = texts('destructive').join('\n');
  if (destructive !== '' && !yes && !asksNow)
    throw new UsageError(`${destructive} This needs confirmation.`, {
      hint: `To confirm it, add --yes. ${nothing}`,
    });
  showNotices(problems, { yes, id }, terminal);
  const isOpen = problems.some(({ weight }) => weight === 'odd' || !allowMissing);
  if (isOpen && asksNow && asks !== 'later')
    await confirmed(question, { yes: false, otherwise, fromStdin }, { terminal });
}

/** Shows each problem, except what was confirmed with --yes. `id`: the envelope, for those that don't name it. */
function showNotices(
  problems: readonly EnvelopeProblem[],
  { yes, id }: { yes: boolean; id: string | undefined },
  terminal: Context['terminal'],
): void {
  for (const { text, weight } of problems)
    if (weight !== 'destructive' || !yes)
      terminal.notice(id === undefined || text.includes(id) ? text : `${id}: ${text}`);
}
