import type { Client } from '../api/client.ts';
import type { Template } from '../api/schemas.ts';
import { isList, isRecord } from '../kernel/json.ts';

/** A template's roles, and whether they were only inferred. */
export interface Roles {
  names: string[];
  inferred: boolean;
}

/** How many earlier envelopes are worth reading for a guess. */
const SAMPLE = 20;

/**
 * The roles of a template. The API document gives templates none, though signers must match one: so they are
 * taken from fields the service may send beyond the document, else inferred from earlier envelopes.
 */
export async function rolesOf(client: Client, template: Template, signal?: AbortSignal): Promise<Roles> {
  const sent = sentRoles(template);
  if (sent.length > 0) return { names: sent, inferred: false };
  const names = new Set<string>();
  let read = 0;
  for await (const item of client.envelopes.list({ signal })) {
    if (item.templateId !== template.id) continue;
    const envelope = item.signers === undefined ? await client.envelopes.get(item.id, signal) : item;
    for (const signer of envelope.signers ?? []) if (signer.role) names.add(signer.role);
    if (++read >= SAMPLE) break;
  }
  return { names: [...names], inferred: names.size > 0 };
}

/** The roles that the service itself tells of a template; none where it does not. */
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
