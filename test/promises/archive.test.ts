import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { COMMAND, Home, jsonLines, linesOf, reportedError } from '../support/cli.ts';
import { openScreen } from '../support/pty.ts';

const home = new Home();
const ids: string[] = [];

beforeAll(async () => {
  await home.sandbox();
  for (const template of ['tmpl_nda', 'tmpl_nda', 'tmpl_intake']) {
    const args = [
      'envelopes',
      'create',
      '--template',
      template,
      '--signer',
      'Ada <ada@example.com>',
      '--send',
    ];
    const id = String((await home.object(args)).id);
    if (template === 'tmpl_nda') await home.run`sandbox sign ${id}`;
    ids.push(id);
  }
});
afterAll(() => home.close());

const archive = (...more: string[]) => ['envelopes', 'download', '--all', ...more];
const files = async (dir: string) => (await readdir(home.path(dir), { recursive: true })).sort();

describe('an archive', () => {
  it('contains the documents of all matching envelopes, listed for sha256sum, and is not downloaded again', async () => {
    const { code, stdout } = await home.run(archive('--dir', 'archive', '--json'));
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toHaveLength(4);
    expect((await files('archive')).filter((name) => name.endsWith('.pdf'))).toHaveLength(4);
    const check = await home.shell('cd archive && sha256sum -c --strict SHA256SUMS');
    expect(check).toMatchObject({ code: 0 });
    expect(linesOf(check.stdout)).toHaveLength(4);
    // The bucket returns 304 for each file.
    const again = await home.run(archive('--dir', 'archive', '--debug'));
    expect(linesOf(again.stdout).map((line) => line.split('\t')[0])).toEqual(Array(4).fill('unchanged'));
    expect(again.stderr.match(/← 304/g)).toHaveLength(4);
    expect(again.stderr).not.toMatch(/X-Amz-Signature|AWS4-HMAC/);
    expect(await files('archive')).toContain('SHA256SUMS');
  });

  it('is arranged by a template', async () => {
    const layout = '{completedAt:yyyy-MM}/{templateName}/{envelopeId}.{what}.pdf';
    const { code, stdout } = await home.run(archive('--dir', 'laid', '--name-template', layout, '--json'));
    expect(code).toBe(0);
    for (const line of jsonLines(stdout)) {
      expect(line).toMatchObject({
        status: 'downloaded',
        path: expect.stringMatching(
          /^laid\/\d{4}-\d\d\/[^/]+\/env_\w+\.(signed|certificate)\.pdf$/,
        ) as unknown,
      });
    }
    expect((await home.shell('cd laid && sha256sum -c SHA256SUMS')).code).toBe(0);
    const byId =
      await home.run`envelopes download ${ids} --what signed --dir ids --name-template ${layout} --json`;
    expect(byId.code).toBe(10);
    expect(jsonLines(byId.stdout)).toMatchObject([
      { status: 'downloaded' },
      { status: 'downloaded' },
      { status: 'failed', error: { code: 'STORAGE_NOT_READY' } },
    ]);
  });

  it('stays inside its folder for any template and field values', async () => {
    const layout = '../../{subject}/../{envelopeId}.{what}.pdf';
    await home.run(archive('--dir', 'inside', '--name-template', layout));
    expect((await files('inside')).filter((name) => name.endsWith('.pdf'))).toHaveLength(4);
    expect((await readdir(home.folder)).filter((name) => name.endsWith('.pdf'))).toEqual([]);
  });

  it('is refused before the first byte if two files would have the same name', async () => {
    const met = await home.run(archive('--dir', 'met', '--name-template', '{templateName}.pdf'));
    expect(met.code).toBe(2);
    expect(met.stderr).toContain('Confidentiality undertaking.pdf');
    await expect(readdir(home.path('met'))).rejects.toThrow();
  });

  it('accepts IDs or --all, not both', async () => {
    expect((await home.run(archive('env_1'))).code).toBe(2);
    expect((await home.run`envelopes download`).code).toBe(2);
  });

  it('is complete after three concurrent runs have taken turns', async () => {
    const runs = await Promise.all([1, 2, 3].map(() => home.run(archive('--dir', 'both'))));
    expect(runs.map((run) => run.code)).toEqual([0, 0, 0]);
    expect((await files('both')).filter((name) => !name.endsWith('.pdf'))).toEqual(['SHA256SUMS']);
    expect((await home.run`documents verify both`).code).toBe(0);
  });

  it('shows progress on a terminal', async () => {
    const [file, ...before] = COMMAND;
    const args = [...before, ...archive('--dir', home.path('shown'))];
    const screen = openScreen(file, args, { env: home.env, columns: 200 });
    await screen.ended;
    expect(screen.raw()).toMatch(/\d of 4 files/);
    expect(screen.text().match(/Saved/g)).toHaveLength(4);
  });
});

describe('documents verify', () => {
  it('passes listed files, and fails with 9 and the names of the others', async () => {
    await home.run(archive('--dir', 'kept'));
    const good = await home.run`documents verify kept --json`;
    expect(good.code).toBe(0);
    expect(jsonLines(good.stdout)).toHaveLength(4);
    const [first = '', second = ''] = (await files('kept')).filter((name) => name.endsWith('.pdf'));
    const whole = await readFile(home.path('kept', first));
    whole[whole.length - 1] = (whole.at(-1) ?? 0) ^ 1;
    await writeFile(home.path('kept', first), whole);
    await rm(home.path('kept', second));
    const bad = await home.run`documents verify kept --json`;
    expect(bad.code).toBe(9);
    expect(jsonLines(bad.stdout).filter((line) => isRecord(line) && line.error !== null)).toMatchObject([
      { path: `kept/${first}`, error: { code: 'STORAGE_CORRUPT' } },
      { path: `kept/${second}`, sha256: null },
    ]);
    expect(jsonLines(bad.stderr)).toMatchObject([{ error: { code: 'STORAGE_CORRUPT', exitCode: 9 } }]);
    const repaired = await home.run(archive('--dir', 'kept', '--force'));
    expect(repaired.code).toBe(0);
    expect((await home.run`documents verify kept`).code).toBe(0);
  });

  it('requires a list', async () => {
    await mkdir(home.path('empty'));
    expect((await home.run`documents verify empty`).code).toBe(2);
    expect((await home.run`documents verify ${''}`).code).toBe(2);
  });
});

describe('documents head and link', () => {
  let key = '';
  beforeAll(async () => {
    key = String((await home.object`envelopes get ${ids[0] ?? ''}`).signedDocumentStorageKey);
  });

  it('describe the object in the bucket, and create a link that works without a key', async () => {
    const head = await home.object`documents head ${key}`;
    expect(head).toMatchObject({
      key,
      contentType: 'application/pdf',
      etag: expect.stringMatching(/^[0-9a-f]{32}$/) as unknown,
    });
    const { stdout, stderr } = await home.run`documents link ${key} --expires 1m --debug`;
    expect(stderr).not.toContain('X-Amz-Signature');
    const reply = await fetch(stdout.trim());
    expect([reply.status, Buffer.from(await reply.arrayBuffer()).length]).toEqual([200, head.size]);
    const missing = await home.run`documents head no/such.pdf --json`;
    expect([missing.code, reportedError(missing).code]).toEqual([9, 'STORAGE_NOT_FOUND']);
    const some = await home.run`documents head ${key} no/such.pdf --json`;
    expect([some.code, jsonLines(some.stdout).length]).toEqual([10, 2]);
  });
});
