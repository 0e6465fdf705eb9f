import { describe, expect, it } from 'vitest';
import type { Client } from '../../../src/api/client.ts';
import type { Envelope } from '../../../src/api/schemas.ts';
import { parseNameTemplate } from '../../../src/documents/archive/name-template.ts';
import { type FileTarget, locate, requireKey } from '../../../src/documents/download/locate.ts';
import {
  fileOfKey,
  targetsOf,
  targetsOfIds,
  targetsOfKeys,
  targetsOfSelection,
  withoutDocuments,
} from '../../../src/documents/download/targets.ts';
import { TimeLimit } from '../../../src/kernel/clock.ts';
import { codeOf, NetworkError, UsageError } from '../../../src/kernel/errors.ts';
import type { DocumentKind } from '../../../src/kernel/vocabulary.ts';
import { clientFor } from '../../support/client.ts';
import { fakeClock } from '../../support/clock.ts';

const KEY = 'esign/envelopes/org_1/env_1/signed.pdf';
const done: Envelope = {
  id: 'env_1',
  status: 'COMPLETED',
  subject: 'Lease',
  documentStorageKey: 'k/document.pdf',
  signedDocumentStorageKey: KEY,
  certificateStorageKey: null,
};

/** A client that returns these envelopes one after another, the last one again and again. */
function clientWith(...answers: (Envelope | Error)[]) {
  const read: string[] = [];
  const client = clientFor('http://127.0.0.1:1');
  const get = (id: string): Promise<Envelope> => {
    const answer = answers[Math.min(read.push(id), answers.length) - 1];
    return answer instanceof Error || answer === undefined
      ? Promise.reject(answer ?? new Error('no envelope'))
      : Promise.resolve({ ...answer, id });
  };
  return { client: { ...client, envelopes: { ...client.envelopes, get } } satisfies Client, read };
}
const byEnvelope = parseNameTemplate('{subject}/{what}.pdf', 'envelope');

describe('the file of a storage key', () => {
  it.each<[string, string | null, string | null, string]>([
    [KEY, 'env_1', 'signed', 'env_1.signed.pdf'],
    ['env_2/certificate.pdf', 'env_2', 'certificate', 'env_2.certificate.pdf'],
    ['a/env_2/document.pdf', 'env_2', 'document', 'env_2.document.pdf'],
    ['a/env_2/other.pdf', null, null, 'other.pdf'],
    ['a/my_env_2/signed.pdf', null, 'signed', 'signed.pdf'],
    ['signed.pdf', null, 'signed', 'signed.pdf'],
  ])('%s has an envelope only in the documented format', (key, envelopeId, what, fileName) => {
    expect(fileOfKey(key)).toEqual({ envelopeId, what, key, fileName, status: null });
  });

  it.each(['a/folder/', ''])('is refused if the key "%s" belongs to a folder', (key) => {
    expect(() => fileOfKey(key)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });

  it('has a name by the template', () => {
    const template = parseNameTemplate('{envelopeId}-{what}-{name}', 'key');
    const [file] = targetsOfKeys([KEY], template);
    expect(file).toMatchObject({ key: KEY, envelopeId: 'env_1', fileName: 'env_1-signed-signed.pdf' });
    expect(targetsOfKeys([KEY, 'x.pdf'], undefined).map(({ fileName }) => fileName)).toEqual([
      'env_1.signed.pdf',
      'x.pdf',
    ]);
  });
});

describe('the documents of envelopes', () => {
  const kinds: DocumentKind[] = ['signed', 'document'];

  it('by ID are not read if no template needs their values', async () => {
    const { client, read } = clientWith(done);
    expect(await targetsOfIds(['env_1', 'env_2'], { client, kinds, template: undefined })).toEqual([
      { envelopeId: 'env_1', what: 'signed', key: null, fileName: 'env_1.signed.pdf', status: null },
      { envelopeId: 'env_1', what: 'document', key: null, fileName: 'env_1.document.pdf', status: null },
      { envelopeId: 'env_2', what: 'signed', key: null, fileName: 'env_2.signed.pdf', status: null },
      { envelopeId: 'env_2', what: 'document', key: null, fileName: 'env_2.document.pdf', status: null },
    ]);
    expect(read).toEqual([]);
  });

  it('by ID are named by the template, and an unreadable envelope is reported with its targets', async () => {
    const error = new NetworkError('NETWORK', 'no response', { maybeReceived: false });
    const { client } = clientWith(done, error);
    const targets = await targetsOfIds(['env_1', 'env_2'], { client, kinds, template: byEnvelope });
    expect(targets).toEqual([
      { envelopeId: 'env_1', what: 'signed', key: KEY, fileName: 'Lease/signed.pdf', status: 'COMPLETED' },
      {
        envelopeId: 'env_1',
        what: 'document',
        key: 'k/document.pdf',
        fileName: 'Lease/document.pdf',
        status: 'COMPLETED',
      },
      { envelopeId: 'env_2', what: 'signed', key: null, fileName: null, status: null, error },
      { envelopeId: 'env_2', what: 'document', key: null, fileName: null, status: null, error },
    ]);
    await expect(locate(targets.at(-1) ?? fail(), waiting({ client }))).rejects.toBe(error);
  });

  it('by ID end with the first error that is not of an envelope, and with an abort', async () => {
    const bug = clientWith(new TypeError('bug'));
    await expect(
      targetsOfIds(['env_1'], { client: bug.client, kinds, template: byEnvelope }),
    ).rejects.toThrow('bug');
    const { client } = clientWith(new NetworkError('NETWORK', 'torn', { maybeReceived: false }));
    const options = { client, kinds, template: byEnvelope, signal: AbortSignal.abort() };
    await expect(targetsOfIds(['env_1'], options)).rejects.toThrow('torn');
  });

  it('in a selection are those that exist or are due, each envelope once', async () => {
    const { client } = clientWith(done);
    const all: DocumentKind[] = ['signed', 'certificate', 'document'];
    const sent: Envelope = { id: 'env_2', status: 'SENT' };
    const early: Envelope = { id: 'env_3', status: 'SENT', certificateStorageKey: 'c.pdf' };
    const targets = await targetsOfSelection([done, sent, done, early], {
      client,
      kinds: all,
      template: undefined,
    });
    expect(targets.map(({ fileName, key }) => [fileName, key])).toEqual([
      ['env_1.signed.pdf', KEY],
      ['env_1.certificate.pdf', null],
      ['env_1.document.pdf', 'k/document.pdf'],
      ['env_2.document.pdf', null],
      ['env_3.certificate.pdf', 'c.pdf'],
      ['env_3.document.pdf', null],
    ]);
    expect([...withoutDocuments([done, sent, early, { id: 'env_4' }], ['signed'])]).toEqual([
      ['env_2', 'SENT'],
      ['env_3', 'SENT'],
      ['env_4', expect.any(String)],
    ]);
    expect([...withoutDocuments([sent], ['signed', 'document'])]).toEqual([]);
  });

  it('have no status and no key if the service returns none', () => {
    expect(targetsOf({ id: 'env_9' }, { kinds: ['signed'], template: undefined })).toEqual([
      { envelopeId: 'env_9', what: 'signed', key: null, fileName: 'env_9.signed.pdf', status: null },
    ]);
  });
});

function fail(): never {
  throw new Error('no target');
}

/** Waits until `until` ms after the clock's start. */
function waiting({ client, until = 0 }: { client: Client; until?: number }) {
  const clock = fakeClock();
  const waits: string[] = [];
  return {
    client,
    clock,
    waits,
    limit: new TimeLimit(clock, until),
    onWait: (reason: string) => void waits.push(reason),
  };
}

describe('locating a document', () => {
  const target: FileTarget = {
    envelopeId: 'env_1',
    what: 'signed',
    key: null,
    fileName: 'own.pdf',
    status: null,
  };
  const keyless: Envelope = { ...done, signedDocumentStorageKey: null };

  it('reads nothing if the key is known', async () => {
    const { client, read } = clientWith(done);
    const file = { ...target, key: 'k', status: 'SENT' };
    expect(await locate({ ...file }, waiting({ client }))).toEqual(file);
    expect(read).toEqual([]);
  });

  it('reads the envelope, and keeps the name of the target', async () => {
    const { client } = clientWith(done);
    const found = { envelopeId: 'env_1', what: 'signed', key: KEY, status: 'COMPLETED' };
    expect(await locate(target, waiting({ client }))).toEqual({ ...found, fileName: 'own.pdf' });
  });

  it('does not take an empty key for one', async () => {
    const { client } = clientWith({ ...done, documentStorageKey: '' });
    await expect(locate({ ...target, what: 'document' }, waiting({ client }))).rejects.toMatchObject({
      code: 'STORAGE_NOT_READY',
    });
  });

  it('fails with the error of the target, and reads nothing', async () => {
    const { client, read } = clientWith(done);
    const error = new UsageError('no');
    await expect(locate({ ...target, error }, waiting({ client }))).rejects.toBe(error);
    expect(read).toEqual([]);
  });

  it('waits for the key of a completed envelope', async () => {
    const { client, read } = clientWith(keyless, keyless, done);
    const options = waiting({ client, until: 30_000 });
    expect(await locate(target, options)).toMatchObject({ key: KEY });
    expect([read.length, options.clock.slept, options.waits.length]).toEqual([3, [1_000, 1_000], 2]);
  });

  it('names the file after the envelope at that time', async () => {
    const options = { kinds: ['signed'] as const, template: parseNameTemplate('{status}/{key}', 'envelope') };
    const [open] = targetsOf({ id: 'env_1', status: 'SENT' }, options);
    const { client } = clientWith(done);
    expect(open?.fileName).toBe('SENT/no-key');
    expect(await locate(open ?? target, waiting({ client }))).toMatchObject({
      fileName: `COMPLETED/${KEY}`,
    });
  });

  it('waits for the original of an envelope in any status', async () => {
    const draft: Envelope = { id: 'env_1', status: 'DRAFT' };
    const { client } = clientWith(draft, { ...draft, documentStorageKey: 'd.pdf' });
    const options = waiting({ client, until: 30_000 });
    expect(await locate({ ...target, what: 'document' }, options)).toMatchObject({ key: 'd.pdf' });
  });

  it('stops when the time is over', async () => {
    const { client, read } = clientWith(keyless);
    const options = waiting({ client, until: 2_000 });
    await expect(locate(target, options)).rejects.toMatchObject({ code: 'STORAGE_NOT_READY' });
    expect([read.length, options.clock.slept]).toEqual([3, [1_000, 1_000]]);
  });

  it("doesn't wait for signed documents before the envelope is completed", async () => {
    const { client, read } = clientWith({ id: 'env_1', status: 'SENT' });
    const options = waiting({ client, until: 30_000 });
    await expect(locate(target, options)).rejects.toMatchObject({ code: 'STORAGE_NOT_READY' });
    expect(read).toHaveLength(1);
  });

  it.each<[string, string[], number[]]>([
    ['until they have signed', ['SENT', 'IN_PROGRESS', 'COMPLETED'], [5_000, 5_000]],
    ['unless nobody can sign anymore', ['SENT', 'DECLINED'], [5_000]],
  ])('waits for the signers on request, %s', async (_, statuses, slept) => {
    const key = { signedDocumentStorageKey: KEY };
    const { client } = clientWith(
      ...statuses.map((status) => ({ id: 'env_1', status, ...(status === 'COMPLETED' ? key : {}) })),
    );
    const options = { ...waiting({ client, until: 60_000 }), untilSigned: true };
    const found = locate(target, options).then(
      (file) => file.key,
      (error: unknown) => codeOf(error),
    );
    expect([await found, options.clock.slept]).toEqual([
      statuses.includes('COMPLETED') ? KEY : 'STORAGE_NOT_READY',
      slept,
    ]);
  });

  it.each<[string, Partial<FileTarget>]>([
    ['an envelope', { envelopeId: null }],
    ['a kind', { what: null }],
    ['a name', { fileName: null }],
  ])('needs %s if the key is unknown', async (_, without) => {
    const { client } = clientWith(done);
    await expect(locate({ ...target, ...without }, waiting({ client }))).rejects.toThrow(TypeError);
  });
});

describe('a document without a key', () => {
  const hintOf = (envelope: Envelope, what: DocumentKind) => {
    try {
      return requireKey(envelope, what);
    } catch (error) {
      return error;
    }
  };
  it.each<[string, DocumentKind, string]>([
    ['COMPLETED', 'signed', '--wait'],
    ['SENT', 'signed', 'envelopes watch env_1'],
    ['SENT', 'certificate', 'envelopes download env_1 --what document'],
    ['CANCELLED', 'signed', '--what document'],
    ['DRAFT', 'document', 'moment'],
  ])('of a %s envelope (%s) is reported with a way out: %s', (status, what, hint) => {
    expect(hintOf({ id: 'env_1', status }, what)).toMatchObject({
      code: 'STORAGE_NOT_READY',
      hint: expect.stringContaining(hint) as unknown,
    });
  });

  it('is not watched for if the envelope has ended', () => {
    expect(hintOf({ id: 'env_1', status: 'EXPIRED' }, 'signed')).toMatchObject({
      hint: expect.not.stringContaining('watch') as unknown,
    });
    expect(hintOf(done, 'signed')).toBe(KEY);
    expect(hintOf({ id: 'env_1', documentStorageKey: 'd' }, 'document')).toBe('d');
  });
});
