import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/api/schemas.ts';
import { entryOf, envelopeIn, isHead, isIndexEvent } from '../../src/envelope-index/entry.ts';
import { writeLine } from '../../src/journal/line.ts';

const DAY_MS = 86_400_000;
const now = Date.UTC(2026, 0, 10);
const sent: Envelope = {
  id: 'env_1',
  templateId: 'tmpl_1',
  status: 'SENT',
  createdAt: '2026-01-09T00:00:00Z',
  sentAt: '2026-01-09T00:00:00Z',
  expiresAt: '2026-02-09T00:00:00Z',
  metadata: {},
  signers: [{ name: 'Ada', status: 'PENDING' }],
};
const done: Envelope = {
  ...sent,
  status: 'COMPLETED',
  completedAt: '2026-01-09T12:00:00Z',
  signedDocumentStorageKey: 's.pdf',
  certificateStorageKey: 'c.pdf',
};

describe('how much is known of an envelope', () => {
  it.each<[string, Envelope, string, string]>([
    ['in flight', sent, 'whole', 'whole'],
    ['in a list without metadata', { ...sent, metadata: undefined }, 'part', 'whole'],
    ['in a list without its template', { ...sent, templateId: undefined }, 'part', 'whole'],
    ['in a list without its creation time', { ...sent, createdAt: null }, 'part', 'whole'],
    ['in a list without the time of sending', { ...sent, sentAt: undefined }, 'part', 'whole'],
    ['in a list without the time of completion', { ...done, completedAt: undefined }, 'part', 'final'],
    ['a draft, without a time of sending', { ...sent, status: 'DRAFT', sentAt: undefined }, 'whole', 'whole'],
    ['in a list without signers', { ...sent, signers: undefined }, 'part', 'whole'],
    ['in a list with an empty list of signers', { ...sent, signers: [] }, 'part', 'whole'],
    [
      'in a list without the status of a signer',
      { ...sent, signers: [{ status: 'SENT' }, {}] },
      'part',
      'whole',
    ],
    ['with metadata that is null', { ...sent, metadata: null }, 'whole', 'whole'],
    ['without a status', { ...sent, status: undefined }, 'whole', 'whole'],
    ['DECLINED, which can still be canceled', { ...sent, status: 'DECLINED' }, 'whole', 'whole'],
    ['CANCELLED', { ...sent, status: 'CANCELLED' }, 'final', 'final'],
    ['EXPIRED', { ...sent, status: 'EXPIRED' }, 'final', 'final'],
    [
      'CANCELLED, which never gets documents',
      { ...sent, status: 'CANCELLED', certificateStorageKey: null },
      'final',
      'final',
    ],
    ['COMPLETED with its documents', done, 'final', 'final'],
    ['COMPLETED, before its document', { ...done, signedDocumentStorageKey: null }, 'whole', 'whole'],
    ['COMPLETED, before its certificate', { ...done, certificateStorageKey: null }, 'whole', 'whole'],
    ['COMPLETED, in a list without keys', { ...done, signedDocumentStorageKey: undefined }, 'whole', 'final'],
    [
      'COMPLETED without documents for a day',
      { ...done, signedDocumentStorageKey: null, completedAt: new Date(now - DAY_MS - 1).toISOString() },
      'final',
      'final',
    ],
    [
      'COMPLETED without documents for almost a day',
      { ...done, signedDocumentStorageKey: null, completedAt: new Date(now - DAY_MS).toISOString() },
      'whole',
      'whole',
    ],
  ])('%s', (_, envelope, listed, read) => {
    expect([entryOf(envelope, false, now).known, entryOf(envelope, true, now).known]).toEqual([listed, read]);
  });

  it('is written with the time, and empty texts for missing fields', () => {
    expect(entryOf({ id: 'env_2' }, false, now)).toMatchObject({
      id: 'env_2',
      status: '',
      created: '',
      seen: now,
    });
    expect(entryOf(sent, true, now)).toMatchObject({
      status: 'SENT',
      created: sent.createdAt,
      envelope: sent,
    });
  });
});

describe('a line of the index', () => {
  const head = { id: 'env_1', status: 'SENT', created: '', known: 'part', seen: 1 };
  it('is an envelope only with every field of the head', () => {
    for (const known of ['part', 'whole', 'final']) expect(isHead({ ...head, known })).toBe(true);
    for (const name of Object.keys(head)) expect(isHead({ ...head, [name]: null })).toBe(false);
    expect([isHead(null), isHead('env_1'), isHead({ ...head, known: 'all' })]).toEqual([false, false, false]);
  });

  it.each<[unknown, boolean]>([
    [{ complete: 1, upTo: 2, extra: 0 }, true],
    [{ complete: 1, upTo: 2 }, false],
    [{ complete: 1, extra: 0 }, false],
    [{ gone: 'env_1', seen: 1 }, true],
    [{ gone: 'env_1' }, false],
    [{ gone: 1, seen: 1 }, false],
    [{ touched: 'env_1', status: 'SENT', seen: 1 }, true],
    [{ touched: 'env_1', seen: 1 }, false],
    [{ touched: 1, status: 'SENT', seen: 1 }, false],
    [{ seen: 1 }, false],
    ['gone', false],
  ])('%j is an event: %s', (value, is) => {
    expect(isIndexEvent(value)).toBe(is);
  });

  it('returns its envelope, unless a byte of it has changed', () => {
    const line = Buffer.from(writeLine(entryOf(sent, true, now)).trimEnd());
    expect(envelopeIn(line)).toEqual(sent);
    const changed = Buffer.from(line.toString().replace('Ada', 'Eva'));
    expect(envelopeIn(changed)).toBeUndefined();
    expect(envelopeIn(Buffer.from(writeLine({ gone: 'env_1', seen: 1 }).trimEnd()))).toBeUndefined();
    const nameless = { ...entryOf(sent, true, now), envelope: { status: 'SENT' } };
    expect(envelopeIn(Buffer.from(writeLine(nameless).trimEnd()))).toBeUndefined();
  });
});
