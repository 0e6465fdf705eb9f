import type { Subject } from '../../kernel/errors.ts';
import { nearest } from '../../kernel/text/nearest.ts';
import { foldText } from '../../kernel/text/words.ts';
import type { Recent } from './recent.ts';

/** Returns recent IDs that may be meant by one that doesn't exist: those of templates with this name, or else the most similar one. */
export function suggestIds({ kind, id }: Subject, recent: readonly Recent[]): string[] {
  // A recent item may have been deleted.
  const known = recent.filter((one) => one.id !== id);
  const named = known.filter(({ label }) => kind === 'template' && foldText(label) === foldText(id));
  if (named.length > 0) return named.map((one) => one.id);
  const near = nearest(
    id,
    known.map((one) => one.id),
  );
  return near === undefined ? [] : [near];
}
