import type { Envelope, Signer } from '../api/schemas.ts';
import { UsageError } from '../kernel/errors.ts';

/**
 * The signers of an envelope that are named by address or id.
 * @throws UsageError that names those there are.
 */
export function signersNamed(envelope: Envelope, name: string): Signer[] {
  const signers = envelope.signers ?? [];
  const named = signers.filter((one) => one.id === name || one.email?.toLowerCase() === name.toLowerCase());
  if (named.length > 0) return named;
  throw new UsageError(`${name} is not a signer of ${envelope.id}.`, { hint: theSignersOf(envelope) });
}

/** The signers there are, for a hint; undefined when there are none. */
export function theSignersOf({ signers }: Envelope): string | undefined {
  const known = (signers ?? []).flatMap(({ email }) => email ?? []);
  return known.length > 0 ? `Its signers: ${known.join(', ')}.` : undefined;
}
