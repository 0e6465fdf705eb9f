import { entryOf } from '../kernel/json.ts';
import type { Terminal } from './terminal.ts';

type Colour = Parameters<Terminal['style']>[0];

/** Colors that don't depend on distinguishing red from green: blue is active, green is complete, yellow ended early, dim is a draft. */
const COLOURS: Readonly<Record<string, Colour>> = {
  DRAFT: 'dim',
  SENT: 'cyan',
  IN_PROGRESS: 'blue',
  COMPLETED: 'green',
  CANCELLED: 'dim',
  EXPIRED: 'yellow',
  DECLINED: 'magenta',
};

/** Returns the color of an envelope status, or undefined for an unknown one. */
export function statusColour(status: string | null | undefined): Colour | undefined {
  return entryOf(COLOURS, status ?? '');
}

/** Returns the sign for the status of a signer. */
export function signerMark(status: string | null | undefined): string {
  const marks: Record<string, string> = { SIGNED: '✓', DECLINED: '✗', VIEWED: '◐', SENT: '○', PENDING: '·' };
  return entryOf(marks, status ?? '') ?? '?';
}
