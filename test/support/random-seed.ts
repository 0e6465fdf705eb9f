import fc from 'fast-check';

/* Random tests are the same in each run with the same FAULT_SEED, which vitest.config.ts sets for `npm test`. */
const seed = process.env.FAULT_SEED;
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) });
