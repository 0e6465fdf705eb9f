import { distance } from 'fastest-levenshtein';

/** Returns the most similar known word, or undefined if none is similar. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const [a, b] = [word.toLowerCase(), candidate.toLowerCase()];
    const steps = isTypo(a, b) ? 1 : distance(a, b);
    if (steps < least) [best, least] = [candidate, steps];
  }
  return best;
}

/** Returns true if one letter was added, omitted, or changed, or if two neighboring letters were swapped. */
export function isTypo(text: string, known: string): boolean {
  if (Math.abs(text.length - known.length) > 1) return false;
  const edits = distance(text, known);
  const at = [...text].findIndex((letter, index) => letter !== known[index]);
  const swapped = text.slice(0, at) + text.charAt(at + 1) + text.charAt(at) + text.slice(at + 2);
  return edits === 1 || (edits === 2 && swapped === known);
}
