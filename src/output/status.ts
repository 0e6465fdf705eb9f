import { entryOf } from '../kernel/json.ts';
import type { Terminal } from './terminal.ts';

type Colour = Parameters<Terminal['style']>[0];

/** Told apart without red and green: blue moves, green is done, yellow ended otherwise, dim rests. */
const COLOURS: Readonly<Record<string, Colour>> = {
  DRAFT: 'dim',
  SENT: 'cyan',
  IN_PROGRESS: 'blue',
  COMPLETED: 'green',
  CANCELLED: 'dim',
  EXPIRED: 'yellow',
  DECLINED: 'magenta',
};

/** The colour of an envelope status; none for one we do not know. */
export function statusColour(status: string | null | undefined): Colour | undefined {
  return entryOf(COLOURS, status ?? '');
}

/** What a signer did, in a word or two. */
export function signerMark(status: string | null | undefined): string {
  const marks: Record<string, string> = { SIGNED: '✓', DECLINED: '✗', VIEWED: '◐', SENT: '○', PENDING: '·' };
  return entryOf(marks, status ?? '') ?? '?';
}
