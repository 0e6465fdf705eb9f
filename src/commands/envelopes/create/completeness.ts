import type { Client } from '../../../api/client.ts';
import type { Template } from '../../../api/schemas.ts';
import type { Context } from '../../../cli/context.ts';
import { confirmed } from '../../../cli/input/confirm.ts';
import { type KnownRoles, NO_ROLES, type SignerProblem } from '../../../envelopes/completeness.ts';
import { isNotFound, ServiceError, UsageError } from '../../../kernel/errors.ts';
import { sentRoles } from '../../../templates/roles.ts';

/** How to report the problems. */
export interface ProblemOptions {
  /** --allow-missing-roles: a role without a signer is only a warning. */
  allowMissing: boolean;
  /** Asks on a terminal. `later`: a dry run, so the question is left to the real run. */
  asks: boolean | 'later';
  /** Such as `Create it anyway?`. */
  question: string;
  /** What did not happen if the answer is no, such as `nothing was created`. */
  otherwise: string;
}

/** The roles of templates. Each template is read once per command. */
export class TemplateRoles {
  readonly #client: Client;
  readonly #context: Context;
  readonly #templates = new Map<string, Promise<Template | undefined>>();

  constructor(client: Client, context: Context) {
    this.#client = client;
    this.#context = context;
  }

  /** Returns the roles of a template. @throws ServiceError NOT_FOUND if it doesn't exist. */
  async of(id: string): Promise<KnownRoles> {
    const template = await this.template(id);
    return template === undefined ? NO_ROLES : rolesShownBy(template);
  }

  /** Returns the template; undefined if the key can't read it. */
  template(id: string): Promise<Template | undefined> {
    const known = this.#templates.get(id) ?? this.#read(id);
    this.#templates.set(id, known);
    return known;
  }

  /** Like `of`, but without roles if the template doesn't exist or no ID is given. */
  async ifShown(id: string | null | undefined): Promise<KnownRoles> {
    if (!id) return NO_ROLES;
    try {
      return await this.of(id);
    } catch (error) {
      if (isNotFound(error)) return NO_ROLES;
      throw error;
    }
  }

  async #read(id: string): Promise<Template | undefined> {
    const { signal } = this.#context.interrupt;
    try {
      return await this.#client.templates.get(id, signal);
    } catch (error) {
      // Some keys can write but not read.
      if (!(error instanceof ServiceError) || error.code !== 'FORBIDDEN') throw error;
      this.#context.terminal.notice(
        `The roles of ${id} are not checked because the key can't read templates.`,
      );
      return undefined;
    }
  }
}

/** Returns the roles that the template defines. */
function rolesShownBy(template: Template): KnownRoles {
  return { names: sentRoles(template), inferred: false };
}

/**
 * Reports the problems of the signers, and asks for confirmation on a terminal.
 * @throws UsageError if a problem can't be confirmed, the answer is no, or a role has no signer and no terminal can ask for one.
 */
export async function confirmProblems(
  warnings: readonly SignerProblem[],
  { allowMissing, asks, question, otherwise }: ProblemOptions,
  context: Context,
): Promise<void> {
  const texts = (weight: SignerProblem['weight']) =>
    warnings.filter((one) => one.weight === weight).map((one) => one.text);
  const nothing = `${otherwise.charAt(0).toUpperCase()}${otherwise.slice(1)}.`;
  const [wrong, incomplete] = [texts('wrong'), texts('incomplete')];
  if (wrong.length > 0) throw new UsageError(wrong.join('\n'), { hint: nothing });
  const canAsk = asks !== false && context.terminal.canAsk && !context.terminal.json;
  if (incomplete.length > 0 && !allowMissing && !canAsk)
    throw new UsageError(incomplete.join('\n'), {
      hint: `Add a signer for each role, such as 'Ada <ada@example.com>;role=ROLE', or pass --allow-missing-roles. ${nothing}`,
    });
  for (const { text } of warnings) context.terminal.notice(text);
  const open = allowMissing ? texts('odd') : [...incomplete, ...texts('odd')];
  if (open.length > 0 && canAsk && asks !== 'later')
    await confirmed(question, { yes: false, otherwise }, context);
}
