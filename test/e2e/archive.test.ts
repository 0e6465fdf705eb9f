import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { Home, jsonLines, reportedError } from '../support/cli.ts';

const home = new Home();
let key = '';

beforeAll(async () => {
  await home.sandbox();
  for (const signer of ['Ada <ada@example.com>', 'Bo <bo@example.com>']) {
    const words = ['envelopes', 'create', '--template', 'tmpl_nda', '--signer', signer, '--send'];
    const signed = await home.object(['sandbox', 'sign', String((await home.object(words)).id)]);
    key = String(signed.signedDocumentStorageKey);
  }
});
afterAll(() => home.close());

describe('an archive', () => {
  const archive = (...args: string[]) =>
    home.run(['envelopes', 'download', '--status', 'COMPLETED', '--dir', 'archive', ...args, '--json']);

  it('is selected, named by a template, listed in SHA256SUMS, and checked', async () => {
    const template = '{completedAt:yyyy-MM}/{templateName}/{envelopeId}.{what}.pdf';
    const { code, stdout } = await archive('--name-template', template);
    expect(code).toBe(0);
    const files = jsonLines(stdout);
    expect(files.length).toBeGreaterThanOrEqual(2);
    expect(files[0]).toMatchObject({
      status: 'downloaded',
      path: expect.stringMatching(/^archive\/\d{4}-\d\d\/[^/]+\/env_/) as unknown,
    });
    const sums = await home.shell('cd archive && sha256sum -c SHA256SUMS');
    expect([sums.code, sums.stdout.split('\n').length - 1]).toEqual([0, files.length]);
    const again = await archive('--name-template', template);
    expect(jsonLines(again.stdout).every((file) => isRecord(file) && file.status === 'unchanged')).toBe(true);
    const verified = await home.run(['documents', 'verify', 'archive', '--json']);
    expect([verified.code, jsonLines(verified.stdout).length]).toEqual([0, files.length]);
  });

  it('tells which file was changed or is gone', async () => {
    await home.shell(
      'cd archive && f=$(cut -c67- SHA256SUMS | head -1) && printf x >> "$f" && rm "$(cut -c67- SHA256SUMS | tail -1)"',
    );
    const { code, stdout, stderr } = await home.run(['documents', 'verify', 'archive', '--json']);
    expect(code).toBe(9);
    const failed = jsonLines(stdout).filter((file) => isRecord(file) && file.status === 'failed');
    expect(failed).toHaveLength(2);
    expect(jsonLines(stderr)).toMatchObject([{ error: { code: 'STORAGE_CORRUPT', exitCode: 9 } }]);
    expect((await home.run(['documents', 'verify', 'nowhere'])).code).toBe(2);
  });

  it.each([
    ['{envelopeId}.pdf', /needs \{envelopeId\} and \{what\}/],
    ['{nope}/{envelopeId}.{what}.pdf', /\{nope\}, which is unknown/],
    ['{envelopeId.{what}.pdf', /brace/],
  ])('refuses the name template %s', async (template, says) => {
    const run = await archive('--name-template', template);
    expect([run.code, String(reportedError(run).message)]).toEqual([
      2,
      expect.stringMatching(says) as unknown,
    ]);
  });

  it('stays inside its folder whatever the fields hold', async () => {
    await home.run([
      'envelopes',
      'download',
      '--status',
      'COMPLETED',
      '--dir',
      'inside',
      '--name-template',
      '../../{subject}/../{envelopeId}.{what}.pdf',
      '--json',
    ]);
    const below = await readdir(home.path('inside'), { recursive: true });
    expect(below.filter((name) => name.endsWith('.pdf')).length).toBeGreaterThanOrEqual(2);
    expect((await readdir(home.folder)).filter((name) => name.endsWith('.pdf'))).toEqual([]);
  });
});

describe('documents head and link', () => {
  it('say what the bucket holds, and give a link that works without a key', async () => {
    const head = await home.object(['documents', 'head', key]);
    expect(head).toMatchObject({
      key,
      contentType: 'application/pdf',
      etag: expect.stringMatching(/^[0-9a-f]{32}$/) as unknown,
    });
    const { stdout, stderr } = await home.run(['documents', 'link', key, '--expires', '1m', '--debug']);
    expect(stderr).not.toContain('X-Amz-Signature');
    const reply = await fetch(stdout.trim());
    expect([reply.status, Buffer.from(await reply.arrayBuffer()).length]).toEqual([200, head.size]);
    const missing = await home.run(['documents', 'head', 'no/such.pdf', '--json']);
    expect([missing.code, reportedError(missing).code]).toEqual([9, 'STORAGE_NOT_FOUND']);
    const some = await home.run(['documents', 'head', key, 'no/such.pdf', '--json']);
    expect([some.code, jsonLines(some.stdout).length]).toEqual([10, 2]);
  });
});
