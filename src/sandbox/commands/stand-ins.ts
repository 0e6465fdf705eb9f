import type { Template, TemplateField } from '../../api/resource-types.ts';
import { inferRoles, sentRoles } from '../../catalog/template-roles.ts';
import type { Context } from '../../cli/session/context.ts';
import { listed } from '../../kernel/duration.ts';
import { configDir } from '../../kernel/files/paths.ts';
import { isRecord } from '../../kernel/json.ts';
import { profileNamed, readProfiles } from '../../settings/store.ts';
import type { SandboxSeed } from '../embed-options.ts';

/** A template for a seed, with the fields and roles of a real one but without its pages. */
type StandIn = NonNullable<SandboxSeed['templates']>[number];

/** The limits of a seed. Anything beyond them is left out. */
const LIMITS = {
  pages: 100,
  fields: 2_000,
  roles: 20,
  description: 2_000,
  label: 500,
  name: 200,
  type: 100,
} as const;
const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/**
 * Returns a stand-in for each active template of a profile's account. Roles that the service doesn't send are inferred from earlier
 * envelopes; nothing else from those is used. Sends only GET requests. @throws UsageError for an unknown profile.
 */
export async function fetchStandIns(
  profile: string,
  { session, terminal, interrupt: { signal } }: Context,
): Promise<StandIn[]> {
  session.restrictToReads();
  const client = await session.clientOf(profileNamed(readProfiles(configDir()), profile));
  const templates: Template[] = [];
  const skipped: string[] = [];
  for await (const item of client.templates.list({ pageSize: 100, signal })) {
    if (!ID.test(item.id)) skipped.push(item.id);
    else templates.push(item.fields ? item : await client.templates.get(item.id, signal));
  }
  if (skipped.length > 0)
    terminal.notice(
      `The sandbox doesn't support these template IDs, so they were skipped: ${listed(skipped)}.`,
    );
  if (templates.length === 0) terminal.notice(`The account for profile ${profile} has no active templates.`);
  const withoutRoles = templates.filter((template) => sentRoles(template).length === 0);
  const inferred = await inferRoles(client, new Set(withoutRoles.map(({ id }) => id)), signal);
  return templates.map((template) => standInOf(template, [...(inferred.get(template.id) ?? [])]));
}

/** Returns the stand-in of a template. `moreRoles` are added to the roles that the service sends. */
function standInOf(template: Template, moreRoles: readonly string[]): StandIn {
  const roles = [...new Set([...sentRoles(template), ...moreRoles])].slice(0, LIMITS.roles);
  return {
    id: template.id,
    name: trimTo(template.name, LIMITS.name) || template.id,
    description: trimTo(template.description, LIMITS.description),
    ...(roles.length === 0 ? {} : { roles }),
    pageCount: pageOf(template.pageCount),
    fields: (template.fields ?? []).slice(0, LIMITS.fields).map(fieldOf),
  };
}

function fieldOf(field: TemplateField, index: number): NonNullable<StandIn['fields']>[number] {
  const [role] = [field.role, field.signerRole, field.assignedTo]
    .flatMap((value) => (isRecord(value) ? [value.name] : [value]))
    .filter((name) => typeof name === 'string' && name !== '');
  return {
    fieldId: trimTo(field.fieldId, LIMITS.name) || `field_${index + 1}`,
    type: trimTo(field.type, LIMITS.type) || 'TEXT',
    label: trimTo(field.label, LIMITS.label),
    required: field.required ?? false,
    page: pageOf(field.page),
    ...(typeof role === 'string' ? { role: trimTo(role, LIMITS.name) } : {}),
  };
}

function trimTo(text: string | null | undefined, maxLength: number): string {
  return (text ?? '').trim().slice(0, maxLength);
}

function pageOf(value: number | null | undefined): number {
  return Math.min(LIMITS.pages, Math.max(1, Math.trunc(value ?? 1) || 1));
}
