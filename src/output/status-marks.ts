import { ownValue } from '../kernel/json.ts';
import type { TextFormat } from './terminal.ts';

/** No two colors differ only in red and green: cyan and blue are active, green is complete, and yellow and magenta ended early. */
const COLORS: Readonly<Record<string, TextFormat>> = {
  DRAFT: 'dim',
  SENT: 'cyan',
  IN_PROGRESS: 'blue',
  COMPLETED: 'green',
  CANCELLED: 'dim',
  EXPIRED: 'yellow',
  DECLINED: 'magenta',
};

/** Returns the color of an envelope status, or undefined for an unknown one. */
export function statusColor(status: string | null | undefined): TextFormat | undefined {
  return ownValue(COLORS, status ?? '');
}

export function signerMark(status: string | null | undefined): string {
  const marks: Record<string, string> = { SIGNED: '✓', DECLINED: '✗', VIEWED: '◐', SENT: '○', PENDING: '·' };
  return ownValue(marks, status ?? '') ?? '?';
}
