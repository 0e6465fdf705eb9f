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

/** Who signs after whom; all at once without. A signer keeps the place among the roles. */
export function setOrder(composition: Composition, turns: readonly NewSigner[] | undefined): void {
  composition.order = turns === undefined ? 'PARALLEL' : 'SEQUENTIAL';
  composition.signers = composition.signers.map((signer) => {
    const { order: _, ...rest } = signer;
    return turns === undefined ? rest : { ...rest, order: turns.indexOf(signer) + 1 };
  });
}

/** Signers who sign one after the other have numbers; those without sign last. */
function numbered({ signers, order }: Composition): NewSigner[] {
  if (order !== 'SEQUENTIAL' || signers.length < 2) return signers;
  let last = Math.max(0, ...signers.map((one) => one.order ?? 0));
  return signers.map((one) => (one.order === undefined ? { ...one, order: ++last } : one));
}

/** What was asked for, as the envelope to create. */
export function composed(composition: Composition): Omit<NewEnvelope, 'templateId'> {
  const { subject, message, order, signers } = composition;
  return {
    signers: numbered(composition),
    subject: subject || undefined,
    message: message || undefined,
    signingOrder: signers.length > 1 ? order : undefined,
  };
}
