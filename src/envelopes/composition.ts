import type { Template } from '../api/schemas.ts';
import { LIMITS } from '../kernel/vocabulary.ts';
import type { NewEnvelope } from './create.ts';
import type { NewSigner } from './signer-mailbox.ts';

/** An envelope while its parts are asked for. */
export interface Composition {
  template?: Template | undefined;
  /** Roles the template is known to have; one signer is asked for each. */
  roles: string[];
  signers: NewSigner[];
  order?: 'PARALLEL' | 'SEQUENTIAL' | undefined;
  subject?: string | undefined;
  message?: string | undefined;
}

export const PARTS = ['template', 'signers', 'order', 'subject', 'message'] as const;
export type Part = (typeof PARTS)[number];

/** One question; signers are asked for one by one. */
export type Step =
  | { part: Exclude<Part, 'signers'> }
  | { part: 'signers'; index: number; role: string | undefined; optional: boolean };

/** The questions that remain for these parts, given the answers so far. `more`: a further signer beyond the roles, too. */
export function stepsFor(composition: Composition, parts: ReadonlySet<Part>, more = false): Step[] {
  return PARTS.filter((part) => parts.has(part)).flatMap((part): Step[] => {
    if (part === 'signers') return signerSteps(composition, more);
    return part === 'order' && composition.signers.length < 2 ? [] : [{ part }];
  });
}

function signerSteps({ roles, signers }: Composition, more: boolean): Step[] {
  const fixed = roles.length;
  const open = fixed === 0 || more || signers.length > fixed;
  const count = Math.min(LIMITS.signers, open ? Math.max(fixed, signers.length) + 1 : fixed);
  return Array.from({ length: count }, (_, index) => ({
    part: 'signers',
    index,
    role: roles[index],
    optional: index >= Math.max(1, fixed),
  }));
}

/** The signers in the order they sign, numbered where it counts. */
export function orderedSigners({ signers, order }: Composition): NewSigner[] {
  return signers.map((signer, index) =>
    order === 'SEQUENTIAL' && signers.length > 1 ? { ...signer, order: signer.order ?? index + 1 } : signer,
  );
}

/** What was asked for, as the envelope to create. */
export function composed(composition: Composition): Omit<NewEnvelope, 'templateId'> {
  const { subject, message, order, signers } = composition;
  return {
    signers: orderedSigners(composition),
    subject: subject || undefined,
    message: message || undefined,
    signingOrder: signers.length > 1 ? order : undefined,
  };
}
