import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Uploads } from '../../../src/sandbox/service/store/uploads.ts';

let folder: string;
let uploads: Uploads;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-uploads-'));
  uploads = new Uploads(join(folder, 'templates'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const files = async () => (await readdir(join(folder, 'templates'))).sort();
const pdf = (text: string) => new TextEncoder().encode(text);

describe('uploaded PDFs', () => {
  beforeEach(async () => {
    await uploads.put('tmpl_1', pdf('one'));
    await uploads.put('tmpl_2', pdf('two'));
  });

  it('are deleted at startup if their template was never stored', async () => {
    await uploads.sweep(['tmpl_2', 'tmpl_3']);
    expect(await files()).toEqual(['tmpl_2.pdf']);
    expect(await uploads.get('tmpl_2')).toEqual(pdf('two'));
  });

  it('are deleted all at once, except one that is being written', async () => {
    await writeFile(join(folder, 'templates', 'tmpl_3.pdf.tmp'), '');
    await uploads.clear();
    expect(await files()).toEqual(['tmpl_3.pdf.tmp']);
  });

  it('are restored exactly as they were saved', async () => {
    const saved = join(folder, 'saved');
    await mkdir(saved);
    await uploads.save(saved);
    await uploads.put('tmpl_1', pdf('other'));
    await uploads.put('tmpl_3', pdf('three'));
    await uploads.restore(saved);
    expect(await files()).toEqual(['tmpl_1.pdf', 'tmpl_2.pdf']);
    expect(await uploads.get('tmpl_1')).toEqual(pdf('one'));
    const elsewhere = new Uploads(join(folder, 'elsewhere'));
    await elsewhere.restore(saved);
    expect(await elsewhere.get('tmpl_2')).toEqual(pdf('two'));
  });
});

it('need no folder while nothing is uploaded', async () => {
  await mkdir(join(folder, 'saved'));
  await uploads.save(join(folder, 'saved'));
  await uploads.sweep([]);
  await uploads.restore(join(folder, 'saved'));
  expect(existsSync(join(folder, 'templates'))).toBe(false);
});
