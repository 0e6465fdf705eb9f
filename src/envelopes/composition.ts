import type { Client } from '../api/client.ts';
import type { Envelope, Template } from '../api/schemas.ts';
import { isVoid } from '../kernel/vocabulary.ts';
import type { EnvelopeInput } from './create.ts';
import { replacedBy } from './replace/find.ts';
import type { SignerInput } from './signer-mailbox.ts';

/** An envelope that is being composed. */
export interface Composition {
  template?: Template | undefined;
  /** The known roles of the template. Each gets one signer. */
  roles: string[];
  signers: SignerInput[];
  order?: 'PARALLEL' | 'SEQUENTIAL' | undefined;
  subject?: string | undefined;
  message?: string | undefined;
}

export const PARTS = ['template', 'signers', 'order', 'subject', 'message'] as const;
export type CompositionPart = (typeof PARTS)[number];

/** Sets the signing order; without `turns`, all sign at the same time. Signers keep their positions in the list. */
export function setOrder(composition: Composition, turns: readonly SignerInput[] | undefined): void {
  composition.order = turns === undefined ? 'PARALLEL' : 'SEQUENTIAL';
  composition.signers = composition.signers.map((signer) => {
    const { order: _, ...rest } = signer;
    return turns === undefined ? rest : { ...rest, order: turns.indexOf(signer) + 1 };
  });
}

/** Numbers the signers of a sequential envelope. Those without a number sign last. */
function numbered({ signers, order }: Composition): SignerInput[] {
  if (order !== 'SEQUENTIAL' || signers.length < 2) return signers;
  let last = Math.max(0, ...signers.map((one) => one.order ?? 0));
  return signers.map((one) => (one.order === undefined ? { ...one, order: ++last } : one));
}

export function composed(composition: Composition): Omit<EnvelopeInput, 'templateId'> {
  const { subject, message, order, signers } = composition;
  return {
    signers: numbered(composition),
    subject: subject || undefined,
    message: message || undefined,
    signingOrder: signers.length > 1 ? order : undefined,
  };
}

/** A signer of an earlier envelope. */
export interface Contact {
  email: string;
  /** The address, if no envelope has a name. */
  name: string;
  /** The roles they signed in, latest first. */
  roles: string[];
}

const DAYS = 90;
/** Enough envelopes to find the usual signers. */
const ENOUGH = 200;
/** Lists may leave signers out. At most this many envelopes are then read one by one. */
const READ_SINGLY = 10;

/** Returns the latest envelopes, newest first, with the signers of those that the limits above allow. */
export async function recentEnvelopes(client: Client, signal?: AbortSignal): Promise<Envelope[]> {
  const found: Envelope[] = [];
  const since = () => client.serviceClock.now() - DAYS * 86_400_000;
  for await (const envelope of client.envelopes.recent(since, signal)) {
    if (found.push(envelope) >= ENOUGH) break;
  }
  found.sort((a, b) => (b.createdAt ?? '').localeCompare(a.createdAt ?? ''));
  if (found.some((one) => one.signers)) return found;
  const whole = found.slice(0, READ_SINGLY).map((one) => client.envelopes.get(one.id, signal));
  return Promise.all(whole);
}

/**
 * Returns the signers of these envelopes, each address once, in the order of the envelopes. Those of a replaced envelope are
 * left out, because its replacement has the corrected ones.
 */
export function contactsIn(envelopes: readonly Envelope[]): Contact[] {
  const known = new Map<string, Contact>();
  const replaced = new Set(envelopes.filter((one) => !isVoid(one)).map(replacedBy));
  const current = envelopes.filter(({ id }) => !replaced.has(id));
  for (const { email, name, role } of current.flatMap((one) => one.signers ?? [])) {
    if (!email) continue;
    const before = known.get(email.toLowerCase()) ?? { email, name: email, roles: [] };
    if (before.name === before.email && name) before.name = name;
    if (role && !before.roles.includes(role)) before.roles.push(role);
    known.set(email.toLowerCase(), before);
  }
  return [...known.values()];
}

/** Returns the roles of the signers of this template's envelopes. */
export function rolesIn(envelopes: readonly Envelope[], templateId: string): string[] {
  const signers = envelopes
    .filter((one) => one.templateId === templateId)
    .flatMap((one) => one.signers ?? []);
  return [...new Set(signers.flatMap(({ role }) => (role ? [role] : [])))];
}
