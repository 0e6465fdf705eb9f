import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';

let sandbox: Sandbox;
let folder: string;
const ids: string[] = [];

/** Each describe has its own sandbox, since its tests may change the pages. */
async function open(envelopes: number): Promise<void> {
  ids.length = 0;
  folder = await mkdtemp(join(tmpdir(), 'esign-dashboard-'));
  sandbox = await startSandbox({ dataDir: folder, host: '127.0.0.1', port: 0 });
  for (let number = 0; number < envelopes; number++) ids.push(await create(number));
}
async function close(): Promise<void> {
  await sandbox.close();
  await rm(folder, { recursive: true, force: true });
}

async function create(number: number): Promise<string> {
  const reply = await fetch(`${sandbox.baseUrl}/esign/envelopes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      templateId: 'tmpl_nda',
      signers: [{ email: `s${number}@x.org`, name: `Signer ${number}` }],
      subject: `Contract ${number}`,
      metadata: { deal: `<${number}>` },
      sendImmediately: true,
      ...(number === 7 ? { webhookUrl: 'http://127.0.0.1:1/hook' } : {}),
    }),
  });
  return z.object({ data: z.object({ id: z.string() }) }).parse(await reply.json()).data.id;
}

const at = (path: string) => new URL(path, sandbox.dashboardUrl).href;
const text = async (path: string) => (await fetch(at(path))).text();
const rowsOf = (page: string) => page.match(/<tr role="row">/g)?.length ?? 0;
const post = (path: string, form: string) =>
  fetch(at(path), { method: 'POST', body: new URLSearchParams({ form }), redirect: 'manual' });

describe('the dashboard', () => {
  beforeAll(() => open(120));
  afterAll(close);

  it('lists all envelopes, page by page, each once', async () => {
    expect(await text('/')).toContain('All 120 envelopes');
    const seen = new Set<string>();
    for (const page of [1, 2, 3]) {
      const shown = await text(`/envelopes?page=${page}`);
      expect(shown).toContain(['1 to 50 of 120', '51 to 100 of 120', '101 to 120 of 120'][page - 1]);
      for (const [, id = ''] of shown.matchAll(/href="\/envelopes\/(env_\w+)"/g)) seen.add(id);
    }
    expect(seen).toEqual(new Set(ids));
    expect(await text('/envelopes?page=99')).toContain('101 to 120');
  });

  it.each([
    ['a name', 'signer 42'],
    ['an address', 's42@x'],
    ['a subject', 'Contract 42'],
    ['metadata', '<42>'],
  ])('finds an envelope by %s', async (_, words) => {
    const page = await text(`/envelopes?q=${encodeURIComponent(words)}`);
    expect(rowsOf(page)).toBe(2);
    expect(page).toContain(ids[42] ?? '');
  });

  it('keeps the search in the links to other pages, and filters by status', async () => {
    expect(await text('/envelopes?q=contract&status=SENT')).toContain(
      '?q=contract&amp;status=SENT&amp;page=2',
    );
    expect(rowsOf(await text('/envelopes?status=COMPLETED'))).toBe(0);
    expect(await text('/envelopes?status=OPEN')).toContain('of 120');
    expect(rowsOf(await text('/mailbox'))).toBe(51);
    expect(await text('/mailbox?to=s&page=3')).toContain('101 to 120 of 120');
  });

  it('shows one envelope: signers and their links, documents, timeline, metadata, emails, webhooks, commands', async () => {
    const page = await text(`/envelopes/${ids[7]}`);
    for (const part of [
      '>Decline</a>',
      `esign envelopes remind ${ids[7]}`,
      'notified',
      '&lt;7&gt;',
      's7@x.org',
      'envelope.sent',
      'Replay',
    ])
      expect(page).toContain(part);
    const link = /href="(\/sign\/[^"]+)"/.exec(page)?.[1] ?? '';
    expect(await text(link)).toContain('Signer 7');
    const file = await fetch(at(`/envelopes/${ids[7]}/document.pdf`));
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    expect((await fetch(at(`/envelopes/${ids[7]}/signed.pdf`))).status).toBe(404);
    expect((await fetch(at('/envelopes/env_none'))).status).toBe(404);
  });

  it('lists the API requests with their query, newest first, and shows each one', async () => {
    await fetch(`${sandbox.baseUrl}/esign/envelopes/env_none?expand=x`, {
      headers: { authorization: `Bearer ${sandbox.apiKey}` },
    });
    const page = await text('/requests');
    expect(page.indexOf('/esign/envelopes/env_none?expand=x')).toBeGreaterThan(0);
    expect(page.indexOf('/esign/envelopes/env_none')).toBeLessThan(page.indexOf('POST'));
    const link = /href="(\/requests\/aud_\w+)"[^>]*>GET/.exec(page)?.[1] ?? '';
    const details = await text(link);
    for (const part of ['404', 'expand', ' ms', 'href="/envelopes/env_none"', 'esign api &#39;/esign/'])
      expect(details).toContain(part);
    expect((await fetch(at('/requests/none'))).status).toBe(404);
  });
});

describe('the forms of the dashboard', () => {
  beforeEach(() => open(60));
  afterEach(close);

  it('move the clock, and refuse a guessed token', async () => {
    const form = /name="form" value="(\w+)"/.exec(await text('/'))?.[1] ?? '';
    expect((await post('/clock/31d', 'guessed')).status).toBe(403);
    expect(rowsOf(await text('/envelopes?status=EXPIRED'))).toBe(0);
    expect((await post('/clock/5d', form)).status).toBe(404);
    expect((await post('/clock/31d', form)).status).toBe(303);
    expect(await text('/envelopes?status=EXPIRED')).toContain('1 to 50 of 60');
  });
});
