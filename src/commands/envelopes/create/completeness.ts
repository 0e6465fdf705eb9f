import type { Client } from '../../../api/client.ts';
import type { Template } from '../../../api/schemas.ts';
import type { Context } from '../../../cli/context.ts';
import { confirmed } from '../../../cli/input/confirm.ts';
import { type KnownRoles, NO_ROLES, type SignerProblem } from '../../../envelopes/completeness.ts';
import { isNotFound, ServiceError, UsageError } from '../../../kernel/errors.ts';
import { sentRoles } from '../../../templates/roles.ts';

/** What is done with what was remarked. */
export interface ProblemOptions {
  /** Given as --allow-missing-roles: a role without a signer is only told. */
  allowMissing: boolean;
  /** Asks where a person can answer; `later`: the person will be asked when it is done in earnest. */
  asks: boolean | 'later';
  /** What is asked: `Create it all the same?` */
  question: string;
  /** What did not happen then: `nothing was created`. */
  otherwise: string;
}

/** The roles of templates, each asked for once in a run. */
export class TemplateRoles {
  readonly #client: Client;
  readonly #context: Context;
  readonly #templates = new Map<string, Promise<Template | undefined>>();

  constructor(client: Client, context: Context) {
    this.#client = client;
    this.#context = context;
  }

  /** Those of the template with this id. @throws ServiceError NOT_FOUND where there is none. */
  async of(id: string): Promise<KnownRoles> {
    const template = await this.template(id);
    return template === undefined ? NO_ROLES : rolesToldBy(template);
  }

  /** The template itself; undefined where the key may not read it. */
  template(id: string): Promise<Template | undefined> {
    const known = this.#templates.get(id) ?? this.#read(id);
    this.#templates.set(id, known);
    return known;
  }

  /** The same, and none where there is no such template any more, or none is named. */
  async ifTold(id: string | null | undefined): Promise<KnownRoles> {
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
      // A key may be allowed to write and not to read.
      if (!(error instanceof ServiceError) || error.code !== 'FORBIDDEN') throw error;
      this.#context.terminal.notice(`The roles of ${id} are not checked: the key may not read templates.`);
      return undefined;
    }
  }
}

/** The roles that the template itself names. */
function rolesToldBy(template: Template): KnownRoles {
  return { names: sentRoles(template), inferred: false };
}

/**
 * Tells what is remarked of the signers, and asks where a person can answer.
 * @throws UsageError when it is wrong, when the answer is no, and where nobody can be asked about a role without a signer.
 */
export async function confirmProblems(
  remarks: readonly SignerProblem[],
  { allowMissing, asks, question, otherwise }: ProblemOptions,
  context: Context,
): Promise<void> {
  const texts = (weight: SignerProblem['weight']) =>
    remarks.filter((one) => one.weight === weight).map((one) => one.text);
  const nothing = `${otherwise.charAt(0).toUpperCase()}${otherwise.slice(1)}.`;
  const [wrong, incomplete] = [texts('wrong'), texts('incomplete')];
  if (wrong.length > 0) throw new UsageError(wrong.join('\n'), { hint: nothing });
  const canAsk = asks !== false && context.terminal.canAsk && !context.terminal.json;
  if (incomplete.length > 0 && !allowMissing && !canAsk)
    throw new UsageError(incomplete.join('\n'), {
      hint: `Give each role a signer, like 'Ada <ada@example.com>;role=ROLE', or go on with --allow-missing-roles. ${nothing}`,
    });
  for (const { text } of remarks) context.terminal.notice(text);
  const open = allowMissing ? texts('odd') : [...incomplete, ...texts('odd')];
  if (open.length > 0 && canAsk && asks !== 'later')
    await confirmed(question, { yes: false, otherwise }, context);
}
