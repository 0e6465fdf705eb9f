import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { Home, jsonLines } from '../support/cli.ts';

const home = new Home();
beforeAll(() => home.sandbox(['--rate-limit', '1000000/15m']));
afterAll(() => home.close());

it('shows who has signed, and requests only envelopes that can still change', async () => {
  const create = async (email: string, send = true) =>
    (
      await home.run(
        `envelopes create --template tmpl_nda --signer ${email} -q ${send ? '--send' : ''}`.trim().split(' '),
      )
    ).stdout.trim();
  const signed = await create('ada@example.com');
  await home.run`sandbox sign ${signed}`;
  const open = await create('bo@example.com');
  const declined = await create('cy@example.com');
  await home.run`sandbox decline ${declined} --reason no`;
  await create('dan@example.com', false);
  const file =
    'email;name;x\r\nADA@example.com;"Ada";1\r\nbo@example.com;Bo;\r\ncy@example.com;Cy;\r\ndan@example.com;Dan;2\r\n';
  await writeFile(home.path('all.csv'), file);
  const lines = await home.json`bulk roster all.csv --template tmpl_nda --json`;
  expect(lines).toMatchObject([
    { row: 1, email: 'ADA@example.com', name: 'Ada', role: null, state: 'signed', envelopeId: signed },
    { row: 2, state: 'waiting', envelopeId: open, signedAt: null },
    { row: 3, state: 'declined', envelopeId: declined },
    { row: 4, state: 'never', envelopeId: null },
  ]);
  const ids = await home.run`bulk roster all.csv --template tmpl_nda -q`;
  expect(ids.stdout).toBe(`${[signed, open, declined].join('\n')}\n`);
  const missing = await home.run`bulk roster all.csv --template tmpl_nda --missing`;
  expect(missing.stdout).toBe('email;name;x\r\ncy@example.com;Cy;\r\ndan@example.com;Dan;2\r\n');
  await writeFile(home.path('send.csv'), file.replaceAll(/;x\r|;1\r|;2\r|;\r/g, '\r'));
  const words = 'bulk create send.csv --template tmpl_nda --skip-existing --yes --json'.split(' ');
  const run = jsonLines((await home.run(words)).stdout).filter(isRecord);
  expect(run.filter(({ status }) => status === 'skipped')).toMatchObject([
    { row: 1, ok: true, envelopeId: signed },
    { row: 2, ok: true, envelopeId: open },
  ]);
  expect(run.filter(({ status }) => status === 'DRAFT')).toHaveLength(2);
  await writeFile(home.path('two.csv'), 'email\nada@example.com\nbo@example.com\n');
  const none = await home.run`bulk create two.csv --template tmpl_nda --send --skip-existing --json`;
  expect([none.code, jsonLines(none.stdout).length]).toEqual([0, 2]);
});

it('can be followed by bulk create if nobody is missing', async () => {
  await home.run`envelopes create --template tmpl_nda --signer gil@example.com --send`;
  await writeFile(home.path('asked.csv'), 'email\ngil@example.com\n');
  const missing = await home.run`bulk roster asked.csv --template tmpl_nda --missing`;
  expect(missing.stdout).toBe('email\n');
  const create = 'bulk create - --template tmpl_nda --send --yes --json'.split(' ');
  const nobody = await home.run(create, { input: missing.stdout });
  expect([nobody.code, nobody.stdout]).toEqual([0, '']);
  expect((await home.run([...create, '--dry-run'], { input: missing.stdout })).code).toBe(0);
  // A command that failed wrote no header.
  expect((await home.run(create, { input: '' })).code).toBe(2);
});

it('reports rows that a run on this machine sent as skipped while they wait, and as existing once they have ended', async () => {
  await writeFile(home.path('again.csv'), 'email\neve@example.com\nfay@example.com\n');
  const words = 'bulk create again.csv --template tmpl_nda --send --skip-existing --yes --json'.split(' ');
  const sent = jsonLines((await home.run(words)).stdout).filter(isRecord);
  const idOf = (wanted: number) => sent.find(({ row }) => row === wanted)?.envelopeId;
  await home.run`sandbox decline ${String(idOf(2))} --reason no`;
  const again = await home.run(words);
  expect(again.code).toBe(0);
  expect(jsonLines(again.stdout)).toMatchObject([
    { row: 1, ok: true, status: 'skipped', envelopeId: idOf(1) },
    { row: 2, ok: true, status: 'EXISTING', envelopeId: idOf(2) },
  ]);
});
