import type { Envelope, Signer } from '../../api/schemas.ts';
import { command } from '../../kernel/text/shell-words.ts';

/** The next step for a late signer: send a reminder, correct a wrong address, or call. */
export type NextStep = 'remind' | 'replace' | 'call';

export interface LateSigner {
  envelope: Envelope;
  signer: Signer;
  opened: boolean | null;
  remindedAt: string | null;
}

/**
 * Returns the next step and its command: first a reminder; then a different address if the signer never opened the envelope;
 * otherwise a call, for which the command shows the envelope.
 */
export function nextStep(late: LateSigner): { step: NextStep; next: string } {
  const { envelope, signer, opened, remindedAt } = late;
  const signers = envelope.signers ?? [];
  const isUnique = signers.filter(({ email }) => email === signer.email).length === 1;
  const name = (isUnique ? signer.email : signer.id) || signer.email || '';
  if (remindedAt === null) {
    const only = name === '' ? [] : [`--signer=${name}`];
    return { step: 'remind', next: command('envelopes', 'remind', envelope.id, ...only) };
  }
  // A replacement requires those who have signed to sign again.
  const canReplace = name !== '' && !signers.some(({ signedAt }) => signedAt);
  if (opened === false && canReplace) {
    const change = `--signer=${name}=NEW-ADDRESS`;
    return { step: 'replace', next: command('envelopes', 'replace', envelope.id, change) };
  }
  return { step: 'call', next: command('envelopes', 'get', envelope.id) };
}
