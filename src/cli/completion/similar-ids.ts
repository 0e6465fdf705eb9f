import type { Subject } from '../../kernel/errors.ts';
import { nearest } from '../../kernel/text/nearest.ts';
import { foldText } from '../../kernel/text/search-words.ts';
import type { Recent } from './recent.ts';

/** A shorter part of an ID would match by chance. */
const MIN_PART = 4;
const MAX_SUGGESTIONS = 3;

/**
 * Returns known IDs that may be meant by one that doesn't exist: those of templates with this name, those that begin with or contain it,
 * or else the most similar one.
 */
export function suggestIds({ kind, id }: Subject, recent: readonly Pick<Recent, 'id' | 'label'>[]): string[] {
  // A recent item may have been deleted.
  const known = recent.filter((one) => one.id !== id);
  const named = known.filter(({ label }) => kind === 'template' && foldText(label) === foldText(id));
  if (named.length > 0) return named.map((one) => one.id);
  const part = id.toLowerCase();
  const longer = part.length < MIN_PART ? [] : known.filter((one) => one.id.toLowerCase().includes(part));
  if (longer.length > 0) return longer.slice(0, MAX_SUGGESTIONS).map((one) => one.id);
  const near = nearest(
    id,
    known.map((one) => one.id),
  );
  return near === undefined ? [] : [near];
}
