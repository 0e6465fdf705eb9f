import type { Envelope, Signer } from '../api/resource-types.ts';
import { UsageError } from '../kernel/errors.ts';
import { comparableSigner } from '../kernel/text/email-address.ts';
import { wordsForHint } from '../kernel/text/shell-words.ts';

/**
 * Returns the signers with this address or ID.
 * @throws UsageError that lists the envelope's signers if none matches.
 */
export function signersNamed(envelope: Envelope, name: string): Signer[] {
  const named = findSigners(envelope, name);
  if (named.length > 0) return named;
  throw new UsageError(`${name} is not a signer of ${envelope.id}.`, { hint: signersHint(envelope) });
}

/** Returns the signers with this ID or address. */
export function findSigners({ signers }: Envelope, name: string): Signer[] {
  const address = comparableSigner(name);
  return (signers ?? []).filter(
    ({ id, email }) => id === name || (email && comparableSigner(email) === address),
  );
}

/** Returns a hint that lists the signers; undefined for an envelope without any. */
export function signersHint({ signers }: Envelope): string | undefined {
  const known = wordsForHint((signers ?? []).flatMap(({ email }) => email ?? []));
  return known.length > 0 ? `Its signers are ${known.join(', ')}.` : undefined;
}
