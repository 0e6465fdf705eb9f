import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { parseJson } from '../../../src/kernel/json.ts';
import { sealOf, stateOf } from './seal-of.ts';
import { makeVectors, type Vector, vectorSigners } from './vectors.ts';

const FOLDER = join(import.meta.dirname, '../../../contract/seals');
/** The most bytes of all vectors, because every clone has them. */
const MAX_BYTES = 2_000_000;

/** The parts of a verdict that follow from the rule. The reason is only for people. */
async function verdictOf(pdf: Uint8Array) {
  const seal = await sealOf(pdf);
  if (seal === undefined) return null;
  const { reason: _, ...verdict } = seal;
  return verdict;
}

/* `npm run contract:update` writes the files again. */
describe('the files in contract/seals', () => {
  let vectors: Vector[];
  beforeAll(async () => {
    vectors = await makeVectors(await vectorSigners());
  });

  it('are the vectors, byte for byte', async () => {
    for (const [file, , , pdf] of vectors) {
      // All vectors are ASCII, which a snapshot stores byte for byte.
      await expect(pdf.toString('latin1'), file).toMatchFileSnapshot(join(FOLDER, file));
    }
  });

  it('are listed in vectors.json with their verdicts', async () => {
    const listed: Record<string, unknown>[] = [];
    for (const [file, what, expected, pdf] of vectors) {
      expect([what, await stateOf(pdf)]).toEqual([what, expected]);
      const sha256 = createHash('sha256').update(pdf).digest('hex');
      listed.push({ file, what, sha256, seal: await verdictOf(pdf) });
    }
    await expect(`${JSON.stringify(listed, null, 2)}\n`).toMatchFileSnapshot(join(FOLDER, 'vectors.json'));
  });
});

const listSchema = z.array(z.object({ file: z.string(), sha256: z.string(), seal: z.unknown() }));

describe('each file in contract/seals', () => {
  it('has the verdict of vectors.json, and none is missing or left over', async () => {
    const listed = listSchema.parse(parseJson(readFileSync(join(FOLDER, 'vectors.json'), 'utf8')));
    const files = readdirSync(FOLDER).filter((file) => file.endsWith('.pdf'));
    expect(files.sort()).toEqual(listed.map(({ file }) => file).sort());
    let total = 0;
    for (const { file, sha256, seal } of listed) {
      const pdf = readFileSync(join(FOLDER, file));
      total += pdf.length;
      expect([file, createHash('sha256').update(pdf).digest('hex')]).toEqual([file, sha256]);
      expect([file, await verdictOf(pdf)]).toEqual([file, seal]);
    }
    expect(total).toBeLessThan(MAX_BYTES);
  });
});
