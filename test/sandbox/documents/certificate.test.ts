import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { hashChain } from '../../../src/sandbox/documents/drawing/history-table.ts';
import type { HistoryEntry } from '../../../src/sandbox/model.ts';
import { infoOf, needsReader, pagesOf, prepareFonts, strokesIn, textIn, textOf } from './reader.ts';
import { certificate, envelope, signer, template } from './samples.ts';

beforeAll(prepareFonts);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const nda = template('tmpl_nda');

describe('the hash chain', () => {
  const history = envelope(nda, [signer(1), signer(2)]).history;

  it('matches its description', () => {
    const [first, second] = history;
    const one = sha256(`${'0'.repeat(64)}\n["${first?.at}","created",null,null]`);
    expect(hashChain(history).slice(0, 2)).toEqual([
      one,
      sha256(`${one}\n["${second?.at}","sent",null,null]`),
    ]);
  });

  it('changes from the first changed line', () => {
    const changed = history.map((entry, index) => (index === 2 ? { ...entry, detail: 'x' } : entry));
    const [before, after] = [hashChain(history), hashChain(changed)];
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    for (const [index, hash] of after.slice(2).entries()) expect(hash).not.toBe(before[index + 2]);
  });
});

describe('certificate.pdf', needsReader, () => {
  it('contains the facts of the envelope', async () => {
    const text = textOf(
      await certificate(nda, [signer(1)], { subject: 'Lease for Quayside 4', signingOrder: 'SEQUENTIAL' }),
    );
    for (const fact of [
      'Certificate of completion',
      'env_01JGKQ7Z4T8N3V5X',
      'Lease for Quayside 4',
      'Confidentiality undertaking (tmpl_nda)',
      'Sequential',
      '2026-01-02 08:59:00 UTC',
      '2026-01-02 09:00:00 UTC',
      '2026-01-02 11:00:00 UTC',
      sha256('document'),
      sha256('signed'),
    ]) {
      expect(text).toContain(fact);
    }
  });

  it('shows a drawn signature next to its signer', { tags: ['full'] }, async () => {
    const drawings = { nda_signature: [[0, 0, 500, 200, 900, 0]] };
    const [drawn, typed] = [
      await certificate(nda, [signer(1, { drawings })]),
      await certificate(nda, [signer(1)]),
    ];
    expect(await strokesIn(typed, 1)).toEqual([]);
    const points = await strokesIn(drawn, 1);
    expect(points).toHaveLength(5);
    for (const { x, y } of points) {
      expect(x).toBeGreaterThan(372);
      expect(x).toBeLessThan(531);
      expect(y).toBeLessThan(774);
    }
    expect(textOf(drawn)).toContain(signer(1).signatureId);
  });

  it('lists each signer with times, address, device, and signature ID', async () => {
    const declined = signer(2, {
      status: 'DECLINED',
      signedAt: null,
      declinedAt: '2026-01-02T10:30:00.000Z',
      declineReason: 'The rent is wrong',
      userAgent:
        'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15',
    });
    const unseen = signer(3, {
      status: 'PENDING',
      signedAt: null,
      notifiedAt: null,
      viewedAt: null,
      consentAt: null,
      ip: null,
      userAgent: null,
    });
    const text = textOf(await certificate(nda, [signer(1), declined, unseen]));
    for (const fact of [
      'Signers (3)',
      'Person Number 1',
      'signer1@example.com',
      '2026-01-02 09:01:00',
      '2026-01-02 09:01:30',
      '2026-01-02 10:01:12',
      '203.0.113.7',
      'Firefox 128 on Linux',
      signer(1).signatureId,
      'Declined',
      'The rent is wrong',
      'Safari 17 on macOS',
      'Waiting',
    ]) {
      expect(text).toContain(fact);
    }
  });

  it('has as many pages as 20 signers and 100 events need, with none of them lost', {
    tags: ['full'],
  }, async () => {
    const signers = Array.from({ length: 20 }, (_, index) => signer(index + 1));
    const history = Array.from(
      { length: 100 },
      (_, index): HistoryEntry => ({
        at: new Date(Date.UTC(2026, 0, 2, 9, 0, index)).toISOString(),
        what: 'viewed',
        signerId: `sgn_${(index % 20) + 1}`,
        detail: `visit ${index}`,
      }),
    );
    const pdf = await certificate(nda, signers, { history });
    const pages = pagesOf(pdf, '-layout');
    expect(pages.length).toBeGreaterThanOrEqual(4);
    expect(pages.length).toBeLessThanOrEqual(8);
    for (const [index, page] of pages.entries()) {
      expect(page).toContain(`Page ${index + 1} of ${pages.length}`);
      expect(page).toContain('SANDBOX');
      expect(page).toContain('Not legally binding');
    }
    const text = pages.join('\n');
    for (const { signatureId, name } of signers) {
      expect(text).toContain(signatureId);
      expect(text).toContain(name);
    }
    const hashes = hashChain(history);
    for (const [index, hash] of hashes.entries()) {
      expect(text).toContain(hash.slice(0, 16));
      expect(text).toContain(`visit ${index}`);
    }
    expect(text).toContain(hashes.at(-1));
  });

  it('stays inside its margins for any values', { tags: ['full'] }, async () => {
    const long = 'Maximilian'.repeat(500);
    const hostile = signer(1, {
      name: long,
      email: `${long}@example.com`,
      role: long,
      ip: long,
      userAgent: long,
      signatureId: long,
    });
    const history: HistoryEntry[] = [
      { at: 'not a time', what: 'signed', signerId: 'sgn_1', detail: `${long}\u202e\u0000` },
    ];
    const pdf = await certificate(nda, [hostile], { subject: `${long} \u202e`, history });
    const pages = Number(infoOf(pdf).get('Pages'));
    for (let page = 1; page <= pages; page++) {
      expect(textIn(pdf, { page, x: 533, y: 0, width: 63, height: 842 })).toBe('');
      expect(textIn(pdf, { page, x: 0, y: 818, width: 596, height: 24 })).toBe('');
    }
  });

  it('repeats the facts in its properties', async () => {
    const info = infoOf(await certificate(nda, [signer(1)]));
    expect(info.get('Title')).toMatch(/^Certificate of completion .*env_01JGKQ7Z4T8N3V5X$/);
    const last = hashChain(envelope(nda, [signer(1)]).history).at(-1);
    for (const fact of ['env_01JGKQ7Z4T8N3V5X', sha256('document'), sha256('signed'), last]) {
      expect(info.get('Keywords')).toContain(fact);
    }
  });

  it('has the same bytes for the same input, in any time zone', async () => {
    const first = await certificate(nda, [signer(1)]);
    const zone = process.env.TZ;
    process.env.TZ = 'Pacific/Auckland';
    try {
      expect(Buffer.compare(first, await certificate(nda, [signer(1)]))).toBe(0);
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });
});
