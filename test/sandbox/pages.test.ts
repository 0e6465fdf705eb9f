import { request as rawRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { newFolder } from '../support/folder.ts';
import { strokesIn } from './reader.ts';

let sandbox: Sandbox;
let folder: string;
const hostile = '<script>alert(1)</script>"\'&';

beforeAll(async () => {
  folder = newFolder();
  sandbox = await startSandbox({ dataDir: folder, port: 0 });
});
afterAll(async () => {
  await sandbox.close();
});

const at = (path: string) => new URL(path, sandbox.dashboardUrl).href;
const post = (path: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  fetch(at(path), { method: 'POST', body: new URLSearchParams(fields), headers, redirect: 'manual' });

async function api(path: string, body?: unknown): Promise<Record<string, unknown>> {
  const reply = await fetch(`${new URL(sandbox.dashboardUrl).origin}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const json: unknown = await reply.json();
  if (!isRecord(json)) throw new Error('no object');
  return isRecord(json.data) ? json.data : json;
}

/** A sent envelope and the signing links in its emails, in signer order. */
async function sent(signers: Record<string, unknown>[], more: Record<string, unknown> = {}) {
  const envelope = await api('/api/v1/esign/envelopes', {
    templateId: 'tmpl_lease',
    signers,
    sendImmediately: true,
    ...more,
  });
  return { id: String(envelope.id), links: await linksOf(String(envelope.id)) };
}

async function linksOf(id: string): Promise<string[]> {
  const { data } = await api(`/__sandbox/mails?envelopeId=${id}`);
  const texts = (Array.isArray(data) ? data : []).map((mail) => (isRecord(mail) ? String(mail.text) : ''));
  return texts.flatMap((text) => /http:\S+(\/sign\/\S+)/.exec(text)?.[1] ?? []);
}

const landlord = { email: 'l@x.org', name: hostile, role: 'Landlord' };
const tenant = { email: 't@x.org', name: 'Tenant', role: 'Tenant' };
const filled = {
  'f.lease_landlord': 'L',
  'f.lease_address': 'A',
  'f.lease_start': '2026-01-01',
  'f.lease_term': '12 months',
  'f.lease_rent': '1',
  'f.lease_deposit': '2',
  'f.lease_landlord_initials_2': 'L',
  'f.lease_landlord_initials_3': 'L',
  'f.lease_landlord_signature': 'L',
  'f.lease_landlord_date': '2026-01-01',
  consent: 'yes',
};

describe('the pages', () => {
  it('escape untrusted text, and load nothing external', async () => {
    const { links } = await sent([landlord, tenant], { subject: hostile, message: hostile });
    for (const path of [
      '/',
      '/envelopes',
      '/mailbox',
      `/mailbox?to=${encodeURIComponent(hostile)}`,
      links[0] ?? '',
    ]) {
      const reply = await fetch(at(path));
      const text = await reply.text();
      expect(reply.status).toBe(200);
      expect(text).not.toContain('<script>alert');
      expect(reply.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
      expect(text).not.toMatch(/\son\w+=|style="/);
    }
  });

  it('accept only a complete signature with consent, and list missing fields', async () => {
    const { id, links } = await sent([landlord, tenant]);
    const [path = ''] = links;
    const { consent, 'f.lease_rent': _rent, ...rest } = filled;
    const refused = await post(path, { ...rest, 'f.lease_address': 'kept & shown' });
    const text = await refused.text();
    expect(refused.status).toBe(400);
    expect(text).toContain('href="#lease_rent"');
    expect(text).toContain('href="#consent"');
    expect(text).toContain('kept &amp; shown</textarea>');
    expect((await post(path, filled)).status).toBe(303);
    expect(await api(`/api/v1/esign/envelopes/${id}`)).toMatchObject({ status: 'IN_PROGRESS' });
    expect(await (await fetch(at(path))).text()).toContain('You have signed');
  });

  it('show whose turn it is, who declined and why, and the documents at the end', async () => {
    const { id, links } = await sent([landlord, tenant], { signingOrder: 'SEQUENTIAL' });
    expect(links).toHaveLength(1);
    await post(links[0] ?? '', filled);
    const [, second = ''] = await linksOf(id);
    expect((await post(`${second}/decline`, { reason: 'too <dear>' })).status).toBe(303);
    expect(await (await fetch(at(second))).text()).toContain('declined by Tenant: too &lt;dear&gt;');
    const done = await sent([landlord]);
    await post(done.links[0] ?? '', filled);
    const page = await (await fetch(at(done.links[0] ?? ''))).text();
    expect(page).toContain('Everyone has signed');
    for (const file of ['signed.pdf', 'certificate.pdf', 'document.pdf']) {
      const reply = await fetch(at(`${done.links[0] ?? ''}/${file}`));
      expect(reply.headers.get('content-type')).toBe('application/pdf');
      expect((await reply.text()).slice(0, 5)).toBe('%PDF-');
    }
  });

  it('accept a drawn signature instead of a typed one, keep it while a field is missing, and refuse other text', async () => {
    const { id, links } = await sent([landlord]);
    const [path = ''] = links;
    const zigzag = '0,0 250,300 500,0;500,500';
    const typed = { ...filled, 'f.lease_landlord_signature': '' };
    const bad = [
      '1',
      '1,2 3',
      '1,2;;3,4',
      '1001,2',
      '-1,2',
      '1e3,2',
      '<svg>',
      '1,2 '.repeat(4_000),
      `${'0,0;'.repeat(200)}0,0`,
    ];
    for (const drawing of bad) {
      const refused = await post(path, { ...typed, 'd.lease_landlord_signature': drawing });
      expect(refused.status, drawing).toBe(400);
      const text = await refused.text();
      expect(text).toContain('href="#lease_landlord_signature"');
      expect(text).not.toContain('<svg>');
    }
    const agreed = { ...typed, 'd.lease_landlord_signature': zigzag };
    const { consent, ...unticked } = agreed;
    const kept = await (await post(path, unticked)).text();
    expect(kept).toContain(`name="d.lease_landlord_signature" value="${zigzag}"`);
    expect(kept).not.toContain('is required');
    expect((await post(path, agreed)).status).toBe(303);
    expect(await api(`/api/v1/esign/envelopes/${id}`)).toMatchObject({ status: 'COMPLETED' });
    const signed = await (await fetch(at(`${path}/signed.pdf`))).arrayBuffer();
    expect(await strokesIn(new Uint8Array(signed), 4)).toHaveLength(6);
  });

  it.each([
    '/sign/0000',
    '/sign/0000/document.pdf',
    '/mailbox/none',
    '/assets/nothing.js',
    '/assets/..%2f..%2fpackage.json',
  ])('return 404 at %s', async (path) => {
    expect((await fetch(at(path))).status).toBe(404);
  });

  it('are available only under their own address', async () => {
    const { port } = new URL(sandbox.dashboardUrl);
    for (const path of ['/', '/envelopes', '/mailbox', '/sign/x', '/assets/style.css']) {
      const status = await new Promise((resolve) => {
        rawRequest({ host: '127.0.0.1', port, path, headers: { host: 'evil.example' } }, (reply) => {
          reply.resume();
          resolve(reply.statusCode);
        }).end();
      });
      expect(status).toBe(403);
    }
  });

  it('list envelopes page by page, and find them by name, address, subject, and metadata', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 60; n += 1) {
      const person = { email: `s${n}@find.example`, name: `Seeker ${n}` };
      const more = { templateId: 'tmpl_nda', subject: `Search ${n}.`, metadata: { deal: `<${n}>` } };
      ids.push((await sent([person], more)).id);
    }
    const text = async (path: string) => (await fetch(at(path))).text();
    const found = async (path: string) => [
      ...new Set([...(await text(path)).matchAll(/href="\/envelopes\/(env_\w+)"/g)].map(([, id]) => id)),
    ];
    expect(await text('/envelopes?q=seeker')).toContain('1 to 50 of 60');
    const pages = [...(await found('/envelopes?q=seeker')), ...(await found('/envelopes?q=seeker&page=2'))];
    expect(pages.sort()).toEqual([...ids].sort());
    for (const words of ['seeker 42', 's42@find', 'Search 42.', '<42>'])
      expect(await found(`/envelopes?q=${encodeURIComponent(words)}`)).toEqual([ids[42]]);
    expect(await found('/envelopes?q=seeker&status=COMPLETED')).toEqual([]);
  });

  it('show one envelope: signers with their links, documents, history, metadata, emails, and commands', async () => {
    const { id } = await sent([landlord, tenant], { metadata: { note: hostile } });
    const page = await (await fetch(at(`/envelopes/${id}`))).text();
    for (const part of [
      '>Decline</a>',
      `esign envelopes remind ${id}`,
      'notified',
      '&lt;script&gt;',
      't@x.org',
    ])
      expect(page).toContain(part);
    expect((await fetch(at(`/envelopes/${id}/document.pdf`))).headers.get('content-type')).toBe(
      'application/pdf',
    );
    expect((await fetch(at(`/envelopes/${id}/signed.pdf`))).status).toBe(404);
  });

  it('move the clock, but not for a form from another site', async () => {
    const { origin } = new URL(sandbox.dashboardUrl);
    const now = async () => Date.parse(String((await api('/__sandbox/')).now));
    const before = await now();
    expect((await post('/clock/1d', {}, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await post('/clock/5d', {}, { origin })).status).toBe(404);
    expect((await now()) - before).toBeLessThan(3_600_000);
    expect((await post('/clock/1d', {}, { origin })).status).toBe(303);
    expect((await now()) - before).toBeGreaterThanOrEqual(86_400_000);
  });
});
