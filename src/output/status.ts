import { entryOf } from '../kernel/json.ts';
import type { Terminal } from './terminal.ts';

type Color = Parameters<Terminal['style']>[0];

/** Colors that don't depend on distinguishing red from green: blue is active, green is complete, yellow ended early, dim is a draft. */
const COLORS: Readonly<Record<string, Color>> = {
  DRAFT: 'dim',
  SENT: 'cyan',
  IN_PROGRESS: 'blue',
  COMPLETED: 'green',
  CANCELLED: 'dim',
  EXPIRED: 'yellow',
  DECLINED: 'magenta',
};

/** Returns the color of an envelope status, or undefined for an unknown one. */
export function statusColor(status: string | null | undefined): Color | undefined {
  return entryOf(COLORS, status ?? '');
}

/** Returns the sign for the status of a signer. */
export function signerMark(status: string | null | undefined): string {
  const marks: Record<string, string> = { SIGNED: '✓', DECLINED: '✗', VIEWED: '◐', SENT: '○', PENDING: '·' };
  return entryOf(marks, status ?? '') ?? '?';
}
