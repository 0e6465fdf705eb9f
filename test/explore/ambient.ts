import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** The time and the randomness of a process. */
export interface Ambient {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Returns the next of a process's own sequence of integers below 2 ** 32. */
  random(): number;
}

let current: Ambient | undefined;

/** From now on, code runs in this process, until the next call. */
export function enter(ambient: Ambient): void {
  current = ambient;
}

/** Returns a sequence of random integers below 2 ** 32, the same for each seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

const REAL = {
  randomBytes: crypto.randomBytes,
  randomUUID: crypto.randomUUID,
  random: Math.random,
  now: Date.now,
};

/** Runs work in which `randomBytes`, `randomUUID`, `Math.random`, and `Date.now` are those of the process that runs. */
export async function withAmbient<T>(work: () => Promise<T>): Promise<T> {
  replace(crypto, 'randomBytes', (size: number) => (current ? bytes(size, current) : REAL.randomBytes(size)));
  replace(crypto, 'randomUUID', () => (current ? uuid(current) : REAL.randomUUID()));
  replace(Math, 'random', () => (current ? current.random() / 2 ** 32 : REAL.random()));
  replace(Date, 'now', () => current?.now() ?? REAL.now());
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    current = undefined;
    replace(crypto, 'randomBytes', REAL.randomBytes);
    replace(crypto, 'randomUUID', REAL.randomUUID);
    replace(Math, 'random', REAL.random);
    replace(Date, 'now', REAL.now);
    syncBuiltinESMExports();
  }
}

function replace(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, {
    value,
    configurable: true,
    writable: true,
    enumerable: object === crypto,
  });
}

function bytes(size: number, { random }: Ambient): Buffer {
  return Buffer.from(Array.from({ length: size }, () => random() & 255));
}

function uuid(ambient: Ambient): string {
  const hex = bytes(16, ambient).toString('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join('-');
}
