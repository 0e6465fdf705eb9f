/** Returns a generator of numbers from 0 to below 1 that depend only on the seed and the name (mulberry32). */
export function seededRandom(seed: number, name: string): () => number {
  let state = seed >>> 0;
  for (const char of name) state = (Math.imul(state, 31) + (char.codePointAt(0) ?? 0)) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
