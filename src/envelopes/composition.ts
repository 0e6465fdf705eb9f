import type { Template } from '../api/schemas.ts';
import type { EnvelopeInput } from './create.ts';
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

/** Returns the envelope to create. */
export function composed(composition: Composition): Omit<EnvelopeInput, 'templateId'> {
  const { subject, message, order, signers } = composition;
  return {
    signers: numbered(composition),
    subject: subject || undefined,
    message: message || undefined,
    signingOrder: signers.length > 1 ? order : undefined,
  };
}
