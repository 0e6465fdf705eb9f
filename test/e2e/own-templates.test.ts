import { afterAll, expect, test } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { endlessPdf, plainPdf } from '../sandbox/documents/uploads.ts';
import { Home, type LongRunning } from '../support/cli.ts';

const home = new Home();
afterAll(() => home.close());

const data = home.path('data');

async function start(): Promise<{ process: LongRunning; at: (path: string) => string }> {
  const process = home.start`sandbox start --data ${data} --port 0 --json`;
  const ready = await process.object();
  return { process, at: (path) => new URL(path, String(ready.dashboardUrl)).href };
}

async function answer(at: (path: string) => string, path: string, body: FormData): Promise<Response> {
  const form = /name="form" value="(\w+)"/.exec(await (await fetch(at('/'))).text())?.[1] ?? '';
  body.set('form', form);
  return fetch(at(path), { method: 'POST', body, redirect: 'manual' });
}

async function post(at: (path: string) => string, path: string, body: FormData): Promise<string> {
  const reply = await answer(at, path, body);
  expect(reply.status).toBe(303);
  return reply.headers.get('location') ?? '';
}

function formOf(values: Record<string, string | Blob>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(values)) form.set(name, value);
  return form;
}

const signature = {
  type: 'SIGNATURE',
  label: 'Signature',
  role: 'Signer',
  page: '1',
  x: '64',
  y: '600',
  width: '180',
  height: '48',
  required: 'yes',
};

/** Killed right after each acknowledgment; acknowledged data exist after the next start. */
test('keeps a template from a PDF after kill -9 at each step, and signs its envelopes like any other', async () => {
  let sandbox = await start();
  const crash = async () => {
    await sandbox.process.stop('SIGKILL');
    sandbox = await start();
  };
  const pdf = new File([new Uint8Array(await plainPdf())], 'sale.pdf');
  const location = await post(sandbox.at, '/templates', formOf({ pdf, roles: 'Signer' }));
  await crash();
  const kept = await fetch(sandbox.at(`${location}/document.pdf`));
  expect((await kept.text()).slice(0, 5)).toBe('%PDF-');
  const fields = Object.fromEntries(Object.entries(signature).map(([name, value]) => [`0.${name}`, value]));
  await post(
    sandbox.at,
    location,
    formOf({ name: 'Sale of a boat', description: '', roles: 'Signer', ...fields }),
  );
  await crash();

  const id = location.split('/').at(-1) ?? '';
  expect((await home.run`templates list`).stdout).toContain(`${id}\t`);
  expect(await home.object`templates get ${id}`).toMatchObject({
    name: 'Sale of a boat',
    fields: [{ fieldId: 'signature_1' }],
  });
  const made = await home.object`envelopes create --template ${id} --signer 'Ada <ada@example.com>' --send`;
  await crash();
  const signed = await home.object`sandbox sign ${String(made.id)}`;
  expect(signed).toMatchObject({ status: 'COMPLETED', templateName: 'Sale of a boat' });
  const { code } = await home.run`envelopes download ${String(made.id)} --dir ${home.path('downloads')}`;
  expect(code).toBe(0);

  await home.run`sandbox reset --yes`;
  const list = await home.json`templates list --all`;
  expect(Array.isArray(list) && list.some((one) => isRecord(one) && one.id === id)).toBe(false);
  expect((await fetch(sandbox.at(`${location}/document.pdf`))).status).toBe(404);
  await sandbox.process.stop();
});

test('refuses a file that hangs the PDF library, and stays available', {
  tags: ['full'],
}, async () => {
  const { process, at } = await start();
  const pdf = new File([new Uint8Array(endlessPdf())], 'endless.pdf');
  const refusal = answer(at, '/templates', formOf({ pdf, roles: 'Signer' }));
  expect((await fetch(at('/mailbox'))).status).toBe(200);
  const reply = await refusal;
  expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('too complex')]);
  await process.stop();
});
