import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/resource-types.ts';
import { recentItems } from '../catalog/envelope-list.ts';
import { replacedBy } from '../catalog/markers.ts';
import { DAY_MS } from '../kernel/duration.ts';
import { isVoid } from '../kernel/statuses.ts';
import type { SignerInput } from '../once/create-body.ts';

/* Suggestions for a new envelope, from the latest ones. */

const DAYS = 90;
/** Enough envelopes to find the usual signers. */
const ENOUGH = 200;
/** Lists may leave signers out. At most this many envelopes are then read one by one. */
const READ_SINGLY = 10;

/** Returns the latest envelopes, newest first, with the signers of those that the limits above allow. */
export async function readRecentEnvelopes(client: Client, signal?: AbortSignal): Promise<Envelope[]> {
  const found: Envelope[] = [];
  const since = () => client.serviceClock.now() - DAYS * DAY_MS;
  for await (const envelope of recentItems(client, since, { signal })) {
    if (found.push(envelope) >= ENOUGH) break;
  }
  found.sort((a, b) => (b.createdAt ?? '').localeCompare(a.createdAt ?? ''));
  if (found.some((one) => one.signers)) return found;
  const whole = found.slice(0, READ_SINGLY).map((one) => client.envelopes.getListed(one.id, signal));
  return Promise.all(whole);
}

/**
 * Returns the latest signer in each role. Envelopes are newest first. A replaced one is left out, because its replacement has the
 * corrected signers.
 */
export function lastSigners(envelopes: readonly Envelope[]): Map<string, SignerInput> {
  const last = new Map<string, SignerInput>();
  const replaced = new Set(envelopes.filter((one) => !isVoid(one)).map(replacedBy));
  const current = envelopes.filter(({ id }) => !replaced.has(id));
  for (const { email, name, role } of current.flatMap((one) => one.signers ?? []))
    if (email && role && !last.has(role)) last.set(role, { email, name: name || email, role });
  return last;
}

/** Returns the roles of the signers of this template's envelopes. */
export function rolesUsedWithTemplate(envelopes: readonly Envelope[], templateId: string): string[] {
  const signers = envelopes
    .filter((one) => one.templateId === templateId)
    .flatMap((one) => one.signers ?? []);
  return [...new Set(signers.flatMap(({ role }) => (role ? [role] : [])))];
}

/** Returns the signers in the order of their turns: this one first, then the others as listed. */
export function numberTurns(signers: readonly SignerInput[], first: SignerInput): SignerInput[] {
  const turns = [first, ...signers.filter((one) => one !== first)];
  return signers.map((one) => ({ ...one, order: turns.indexOf(one) + 1 }));
}
