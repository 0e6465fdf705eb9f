import type { Template } from '../../api/resource-types.ts';
import { sentRoles } from '../../catalog/template-roles.ts';
import type { Context } from '../../cli/session/context.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { KnownRoles } from '../envelope-problems.ts';

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
export async function readTemplate(
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
export function rolesShownBy(template: Template | undefined): KnownRoles {
  return { names: template === undefined ? [] : sentRoles(template), inferred: false };
}
