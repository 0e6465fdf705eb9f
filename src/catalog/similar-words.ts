import type { Envelope } from '../api/resource-types.ts';
import { isTypo } from '../kernel/text/nearest.ts';
import { matchesAllWords } from '../kernel/text/search-words.ts';
import { searchableTexts } from './searchable-texts.ts';

/** Shorter words are similar to too many others. */
const MIN_LENGTH = 4;

/**
 * Returns the words of a search that found nothing as envelopes spell them, such as `hoffmann` for `hofmann`. Words that nothing
 * begins with and nothing is similar to are left out. Undefined if that changes nothing, or leaves no word.
 */
export async function spelledAsInEnvelopes(
  words: readonly string[],
  envelopes: AsyncIterable<Envelope>,
): Promise<string[] | undefined> {
  const counts = new Map<string, number>();
  const matched = new Set<string>();
  for await (const envelope of envelopes) {
    const texts = searchableTexts(envelope);
    for (const word of words) if (matchesAllWords(texts, [word])) matched.add(word);
    for (const known of namesIn(texts)) counts.set(known, (counts.get(known) ?? 0) + 1);
  }
  const spelled = words.flatMap((word) =>
    matched.has(word) ? [word] : (mostFrequentLike(word, counts) ?? []),
  );
  return spelled.length === 0 || spelled.join(' ') === words.join(' ') ? undefined : spelled;
}

/** Returns the words of folded texts, without IDs and numbers: similar ones mean something else. */
function namesIn(texts: readonly string[]): string[] {
  return texts
    .flatMap((text) => text.split(/[^\p{L}\p{N}\p{M}]+/u))
    .filter((word) => word.length >= MIN_LENGTH && !/\d/.test(word));
}

function mostFrequentLike(word: string, counts: ReadonlyMap<string, number>): string | undefined {
  if (word.length < MIN_LENGTH) return undefined;
  const similar = [...counts].filter(([known]) => isTypo(word, known));
  return similar.toSorted(([, one], [, other]) => other - one)[0]?.[0];
}
