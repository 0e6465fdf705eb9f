import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkSeal } from '../../src/documents/seal/check-seal.ts';
import { makeSealKey, sealPdf } from '../../src/sandbox/documents/seal.ts';
import { forgeries, sealedDocuments } from '../documents/seal/forging/forgeries.ts';
import { READERS, shows } from '../documents/seal/forging/readers.ts';
import { FORGED } from '../documents/seal/forging/writer.ts';
import { needs } from '../support/tools.ts';

let folder: string;
let forged: [string, Buffer][];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-forged-'));
  const key = await makeSealKey();
  const at = '2026-03-01T10:20:30.000Z';
  forged = [...forgeries(await sealedDocuments(async (pdf) => Buffer.from(await sealPdf(pdf, key, at))))];
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(READERS)('every forgery in %s', (reader, tools) => {
  it('is not whole if it shows forged text', needs(...tools), async () => {
    const shown: string[] = [];
    for (const [name, pdf] of forged) {
      if (!(await shows(reader, pdf, folder)).includes(FORGED)) continue;
      shown.push(name);
      await writeFile(join(folder, 'judged.pdf'), pdf);
      const { state, coverage } = (await checkSeal(join(folder, 'judged.pdf'))).seal;
      expect([name, state, coverage]).not.toEqual([name, 'intact', 'whole']);
    }
    console.log(`${reader} shows the forged words of ${shown.length} of ${forged.length} forgeries.`);
    expect(shown.length).toBeGreaterThan(20);
  });
});
