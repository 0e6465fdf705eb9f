import { seededRandom } from '../kernel/random.ts';
import type { Draw } from './history.ts';

/**
 * Returns draws for a number of turns. The range from 0 to 1 is divided into `size` equal parts, and one number is drawn from
 * each, in random order. So a list of 20 rows shows the expected outcome of 20 rows, not a random deviation from it.
 */
export function evenDraws(size: number, seed: number, name: string): Draw[] {
  const outcomes = evenNumbers(size, seededRandom(seed, `${name} outcome`));
  const places = evenNumbers(size, seededRandom(seed, `${name} place`));
  return outcomes.map((outcome, index) => ({ outcome, place: places[index] ?? 0 }));
}

function evenNumbers(size: number, random: () => number): number[] {
  const numbers = Array.from({ length: size }, (_, index) => (index + random()) / size);
  for (let last = size - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [numbers[last], numbers[other]] = [numbers[other] ?? 0, numbers[last] ?? 0];
  }
  return numbers;
}
