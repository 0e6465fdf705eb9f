import type { Envelope } from '../api/resource-types.ts';
import { timeOf } from '../kernel/clock.ts';
import { digest } from '../kernel/digest.ts';
import { DAY_MS } from '../kernel/duration.ts';
import { comparableSigner } from '../kernel/text/email-address.ts';
import { comparableText, hasSameContent, isSameText } from './request-identity.ts';

/*
 * The wording of a request: everything that is sent and doesn't identify it. It never makes a request new. What differs from what was
 * sent is named.
 */

/** The parts of the wording that may differ from what was sent. */
export type WordingField = 'name' | 'message' | 'expiry' | 'signingOrder' | 'webhookUrl';

/** The wording of a request in a few bytes: hashes, because a list has thousands of them. Undefined parts are the service's choice. */
export interface Wording {
  /** One for each signer with a name. */
  names: readonly string[];
  message: string | undefined;
  expiresInDays: number | undefined;
  signingOrder: string | undefined;
  webhookUrl: string | undefined;
}

/** The parts of a create body that are compared. */
interface Worded {
  signers: readonly { email: string; name: string }[];
  message?: string | undefined;
  expiresInDays?: number | undefined;
  signingOrder?: string | undefined;
  webhookUrl?: string | undefined;
}

export function wordingOf({ signers, message, expiresInDays, signingOrder, webhookUrl }: Worded): Wording {
  return {
    names: namesOf(signers),
    message: message === undefined ? undefined : textHash(message),
    expiresInDays,
    signingOrder: signingOrder?.toUpperCase(),
    webhookUrl,
  };
}

/** Returns the parts of a wording in which an envelope differs, as far as the service shows them. */
export function changedWording(envelope: Envelope, wording: Wording): WordingField[] {
  const { signers, message, signingOrder, webhookUrl } = envelope;
  const showsNames = signers?.length && signers.every(({ name }) => typeof name === 'string');
  const days = lifetimeOf(envelope);
  const differs: Record<WordingField, boolean> = {
    name: Boolean(showsNames) && !isSubset(wording.names, namesOf(signers ?? [])),
    message:
      wording.message !== undefined && typeof message === 'string' && textHash(message) !== wording.message,
    expiry: wording.expiresInDays !== undefined && days !== undefined && days !== wording.expiresInDays,
    signingOrder: !isSameText(signingOrder?.toUpperCase(), wording.signingOrder),
    webhookUrl: !isSameText(webhookUrl, wording.webhookUrl),
  };
  const fields: WordingField[] = ['name', 'message', 'expiry', 'signingOrder', 'webhookUrl'];
  return fields.filter((field) => differs[field]);
}

/** Returns true if an envelope has the content of a request and would send the same email to the same people. */
export function isSameEnvelope(
  made: Envelope,
  wanted: Pick<Worded, 'signers' | 'message'> & { templateId: string; subject?: string | undefined },
): boolean {
  const { signers, message } = wanted;
  const changed = changedWording(made, wordingOf({ signers, message }));
  return hasSameContent(made, wanted) && isSameText(made.subject, wanted.subject) && changed.length === 0;
}

/** Returns an envelope's lifetime in days, from its creation or from when it was sent; undefined if its dates don't show it. */
export function lifetimeOf({
  expiresAt,
  createdAt,
  sentAt,
}: Pick<Envelope, 'expiresAt' | 'createdAt' | 'sentAt'>): number | undefined {
  const days = [createdAt, sentAt].map((from) => (timeOf(expiresAt) - timeOf(from)) / DAY_MS);
  return days
    .map(Math.round)
    .find((whole, index) => whole >= 1 && Math.abs(whole - (days[index] ?? 0)) < 1 / 24);
}

/** Returns a hash of each name with its address. The address as a name counts as none. */
function namesOf(
  signers: readonly { email?: string | null | undefined; name?: string | null | undefined }[],
): string[] {
  return signers.flatMap(({ email, name }) => {
    const address = comparableSigner(email ?? '');
    const shown = comparableText(name);
    return shown === null || comparableSigner(shown) === address ? [] : digest([address, shown]);
  });
}

function isSubset(some: readonly string[], all: readonly string[]): boolean {
  return some.every((one) => all.includes(one));
}

function textHash(text: string): string {
  return digest(comparableText(text));
}
