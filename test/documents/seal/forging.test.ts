import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkSeal } from '../../../src/documents/seal/check-seal.ts';
import { makeSealKey, sealPdf } from '../../../src/sandbox/documents/seal.ts';
import { flipped, partsOf } from '../../../src/sandbox/documents/tampering.ts';
import { needs } from '../../support/tools.ts';
import { CONFORMING, type Documents, forgeries, sealedDocuments } from './forging/forgeries.ts';
import { createKeys, removeKeys, signed } from './forging/openssl.ts';
import { READERS, shows } from './forging/readers.ts';
import { documentOf, FORGED, HONEST } from './forging/writer.ts';

const AT = '2026-03-01T10:20:30.000Z';
let folder: string;
let documents: Documents;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-forging-'));
  const key = await makeSealKey();
  documents = await sealedDocuments(async (pdf) => Buffer.from(await sealPdf(pdf, key, AT)));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const plain = () => documents.plain ?? Buffer.alloc(0);

async function judge(pdf: Buffer): Promise<string> {
  const path = join(folder, 'judged.pdf');
  await writeFile(path, pdf);
  const { state, coverage } = (await checkSeal(path)).seal;
  return `${state} ${coverage}`;
}

describe('an update of a sealed document', () => {
  it('leaves the seal whole when it conforms and adds only validation data', async () => {
    const verdicts: [string, string][] = [];
    for (const [name, add] of Object.entries(CONFORMING)) verdicts.push([name, await judge(add(plain()))]);
    expect(verdicts).toEqual(Object.keys(CONFORMING).map((name) => [name, 'intact whole']));
  });

  it('never leaves the seal whole when it is forged', async () => {
    const all = [...forgeries(documents)];
    const whole: string[] = [];
    for (const [name, pdf] of all) if ((await judge(pdf)) === 'intact whole') whole.push(name);
    expect(whole).toEqual([]);
    expect(all.length).toBeGreaterThan(200);
    expect(new Set(all.map(([name]) => name)).size).toBe(all.length);
  });

  it("doesn't affect the unmodified documents", async () => {
    const { long: _, ...others } = documents;
    for (const [name, pdf] of Object.entries(others))
      expect([name, await judge(pdf)]).toEqual([name, 'intact whole']);
  });
});

describe('a document sealed with RSA-PSS', needs('openssl'), () => {
  beforeAll(createKeys);
  afterAll(removeKeys);
  const sealPss = (pdf: Buffer) =>
    signed(pdf, 'ETSI.CAdES.detached', 'rsa', '-cades', '-keyopt', 'rsa_padding_mode:pss');

  it('is whole, also after updates that conform, and never when it is forged', async () => {
    const sealed = await sealedDocuments((pdf) => Promise.resolve(sealPss(pdf)));
    const { plain: genuine = Buffer.alloc(0) } = sealed;
    expect(await judge(genuine)).toBe('intact whole');
    for (const [name, add] of Object.entries(CONFORMING))
      expect([name, await judge(add(genuine))]).toEqual([name, 'intact whole']);
    const whole: string[] = [];
    for (const [name, pdf] of forgeries(sealed)) if ((await judge(pdf)) === 'intact whole') whole.push(name);
    expect(whole).toEqual([]);
  });

  it('is not intact if the parameters or any part of its signature change', async () => {
    const genuine = sealPss(documentOf());
    const { gapStart, hex } = partsOf(genuine);
    const cms = Buffer.from(hex, 'hex');
    // RSASSA-PSS and its parameters, then the signature.
    const first = cms.lastIndexOf(Buffer.from('06092a864886f70d01010a', 'hex'));
    expect(first).toBeGreaterThan(0);
    for (let place = first; place < cms.length; place += place < first + 80 ? 1 : 16) {
      const changed = Buffer.from(genuine);
      changed.write(flipped(cms, place).toString('hex'), gapStart + 1, 'latin1');
      expect([place, await judge(changed)]).not.toEqual([place, 'intact whole']);
    }
  });
});

describe.each(READERS)('%s', (reader, tools) => {
  it('shows forged text only if the seal is not whole', needs(...tools), async () => {
    const sample = [...forgeries(documents)]
      .filter(([name]) => /contents|hidden|behind|page/.test(name))
      .slice(0, 12);
    expect(await shows(reader, plain(), folder)).toContain(HONEST);
    let forged = 0;
    for (const [name, pdf] of sample) {
      if (!(await shows(reader, pdf, folder)).includes(FORGED)) continue;
      forged++;
      expect([name, await judge(pdf)]).not.toEqual([name, 'intact whole']);
    }
    expect(forged).toBeGreaterThan(0);
  });
});
