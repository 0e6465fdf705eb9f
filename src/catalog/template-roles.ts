import type { Client } from '../api/client.ts';
import type { Envelope, Template } from '../api/resource-types.ts';
import { isList, isRecord } from '../kernel/json.ts';
import { listsSigners } from '../kernel/statuses.ts';

/** The roles of a template, and whether they were inferred. */
export interface Roles {
  names: string[];
  inferred: boolean;
}

/** The maximum number of earlier envelopes from which roles are inferred. */
const SAMPLE = 20;

/**
 * Returns the roles of a template. The API document defines no roles for templates, although signers must match one. They are
 * therefore taken from undocumented fields that the service may send, or else inferred from earlier envelopes.
 */
export async function rolesOf(client: Client, template: Template, signal?: AbortSignal): Promise<Roles> {
  const sent = sentRoles(template);
  if (sent.length > 0) return { names: sent, inferred: false };
  const names = (await inferRoles(client, new Set([template.id]), signal)).get(template.id) ?? new Set();
  return { names: [...names], inferred: names.size > 0 };
}

/** Infers the roles of several templates from their earlier envelopes, by template ID. Reads the list once. */
export async function inferRoles(
  client: Client,
  templateIds: ReadonlySet<string>,
  signal?: AbortSignal,
): Promise<Map<string, Set<string>>> {
  const roles = new Map<string, Set<string>>();
  const left = new Map([...templateIds].map((id) => [id, SAMPLE]));
  if (left.size === 0) return roles;
  // A sample is enough, whichever envelopes it has.
  for await (const item of client.envelopes.list({ signal })) {
    const id = item.templateId ?? '';
    const remaining = left.get(id);
    if (remaining === undefined) continue;
    roles.set(id, new Set([...(roles.get(id) ?? []), ...(await rolesIn(item, client, signal))]));
    if (remaining > 1) left.set(id, remaining - 1);
    else left.delete(id);
    if (left.size === 0) break;
  }
  return roles;
}

async function rolesIn(item: Envelope, client: Client, signal?: AbortSignal): Promise<string[]> {
  const { signers } = listsSigners(item) ? item : await client.envelopes.getListed(item.id, signal);
  return (signers ?? []).flatMap(({ role }) => role || []);
}

export function sentRoles(template: Template): string[] {
  const lists = [template.roles, template.signerRoles].filter(isList).flat();
  const ofFields = (template.fields ?? []).flatMap((field) => [
    field.role,
    field.signerRole,
    field.assignedTo,
  ]);
  const names = [...lists, ...ofFields].map((role: unknown) => (isRecord(role) ? role.name : role));
  return [...new Set(names.filter((name) => typeof name === 'string' && name !== ''))].map(String);
}
