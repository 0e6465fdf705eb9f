import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { DocumentKind } from '../../../src/kernel/vocabulary.ts';
import type { EnvelopeRecord } from '../../../src/sandbox/model.ts';
import { DEFAULT_RULES } from '../../../src/sandbox/service/base/choices.ts';
import { DocumentStore, storageKey } from '../../../src/sandbox/service/engine/document-store.ts';
import { draftEnvelope } from '../../../src/sandbox/service/engine/draft.ts';
import { PendingDocuments } from '../../../src/sandbox/service/engine/pending-documents.ts';
import { ResetLock } from '../../../src/sandbox/service/engine/reset-lock.ts';
import { StoreState } from '../../../src/sandbox/service/store/state.ts';
import { Uploads } from '../../../src/sandbox/service/store/uploads.ts';
import { ada, lease, MemoryObjects, plainDocuments } from './rig.ts';

const KINDS: DocumentKind[] = ['document', 'signed', 'certificate'];

/** A sandbox with one seeded envelope, whose documents weren't drawn yet. */
function seeded(pending: DocumentKind[] = KINDS) {
  const body = { templateId: lease.id, signers: [ada] };
  const facts = { randomId: () => '1', rules: DEFAULT_RULES };
  const envelope: EnvelopeRecord = { ...draftEnvelope('org_1', lease, body, 0, facts), owedPapers: pending };
  const state = new StoreState();
  state.apply({ kind: 'template', value: lease });
  state.apply({ kind: 'envelope', value: envelope });
  const objects = new MemoryObjects();
  const maker = {
    ...plainDocuments,
    document: vi.fn(plainDocuments.document),
    signed: vi.fn(plainDocuments.signed),
  };
  const documentStore = new DocumentStore(maker, objects, new Uploads('/nowhere'));
  const documents = new PendingDocuments({ objects, state, documentStore, resets: new ResetLock() });
  const get = async (kind: DocumentKind) => {
    const bytes = await documents.get(storageKey(envelope, kind));
    return bytes && Buffer.from(bytes).toString();
  };
  return { envelope, state, objects, maker, documents, get };
}

it('draws a pending document when it is first requested', async () => {
  const { envelope, objects, get } = seeded();
  expect(await objects.read(storageKey(envelope, 'document'))).toContain(`document of ${lease.id}`);
  expect(await get('document')).toContain(`document of ${lease.id}`);
  expect(objects.stored.size).toBe(1);
});

it('draws the signed document and the certificate together, once', async () => {
  const { maker, get } = seeded();
  const [signed, certificate] = await Promise.all([get('signed'), get('certificate')]);
  expect(signed).toMatch(/^%PDF-1.7 signed/);
  expect(certificate).toMatch(/^%PDF-1.7 certificate/);
  expect(maker.signed).toHaveBeenCalledTimes(1);
});

it("doesn't draw a document again that was deleted, until a reset", async () => {
  const { objects, documents, get } = seeded();
  await get('document');
  objects.stored.clear();
  expect(await get('document')).toBeNull();
  documents.forget();
  expect(await get('document')).toContain(lease.id);
});

it('draws only the documents that are pending, under their own keys', async () => {
  const { envelope, objects, get } = seeded(['document']);
  expect(await get('signed')).toBeNull();
  const keys = [
    storageKey({ ...envelope, orgId: 'org_2' }, 'document'),
    storageKey({ ...envelope, id: 'env_9' }, 'document'),
    `${storageKey(envelope, 'document')}x`,
    `x${storageKey(envelope, 'document')}`,
    'other',
  ];
  for (const key of keys) expect(await objects.read(key)).toBeUndefined();
  expect(objects.stored.size).toBe(0);
});

it('draws nothing without the template', async () => {
  const { state, get } = seeded();
  state.templates.clear();
  expect(await get('document')).toBeNull();
});

it('tries again after a failure', async () => {
  const { maker, get } = seeded();
  maker.document.mockRejectedValueOnce(new Error('full'));
  await expect(get('document')).rejects.toThrow('full');
  expect(await get('document')).toContain(lease.id);
});

it('deletes a document whose envelope disappeared in the meantime', async () => {
  const { state, objects, maker, get } = seeded();
  maker.document.mockImplementationOnce((template) => {
    state.apply({ kind: 'reset', value: null });
    return plainDocuments.document(template);
  });
  expect(await get('document')).toBeNull();
  expect(objects.stored.size).toBe(0);
});

it('draws a template once for several envelopes, and again after it has changed', async () => {
  const { envelope, objects, maker } = seeded();
  const store = new DocumentStore(maker, objects, new Uploads('/nowhere'));
  const put = (id: string, template = lease) => store.putDocument({ ...template, id }, envelope);
  const draws = async (work: () => Promise<unknown>) => {
    maker.document.mockClear();
    await work();
    return maker.document.mock.calls.length;
  };
  expect(await draws(() => put('tmpl_0'))).toBe(1);
  expect(await draws(() => put('tmpl_0'))).toBe(0);
  // The seven templates drawn since are kept next to the one that was used last.
  for (let n = 1; n < 8; n++) await put(`tmpl_${n}`);
  expect(await draws(() => put('tmpl_0'))).toBe(0);
  expect(await draws(() => put('tmpl_8'))).toBe(1);
  expect(await draws(() => put('tmpl_2'))).toBe(0);
  expect(await draws(() => put('tmpl_1'))).toBe(1);
});

it('draws the pages of an uploaded PDF again once it was replaced', async () => {
  const { envelope, objects, maker } = seeded();
  const folder = await mkdtemp(join(tmpdir(), 'esign-pages-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const uploads = new Uploads(folder);
  const store = new DocumentStore(maker, objects, uploads);
  const template = { ...lease, upload: { orgId: null, pages: [{ width: 100, height: 100 }] } };
  const pdf = new Uint8Array([1, 2, 3]);
  await uploads.put(lease.id, pdf);
  await store.putDocument(template, envelope);
  await store.putDocument(template, envelope);
  expect(maker.document.mock.calls).toEqual([[template, pdf]]);
  await store.putDocument({ ...template }, envelope);
  expect(maker.document).toHaveBeenCalledTimes(2);
});

it('deletes the uploaded PDFs with all documents, but not with those of one envelope', async () => {
  const { envelope, objects, maker } = seeded();
  const folder = await mkdtemp(join(tmpdir(), 'esign-pages-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const uploads = new Uploads(folder);
  await uploads.put(lease.id, new Uint8Array([1]));
  const store = new DocumentStore(maker, objects, uploads);
  await store.clear(envelope);
  expect(await readdir(folder)).toEqual([`${lease.id}.pdf`]);
  await store.clear();
  expect(await readdir(folder)).toEqual([]);
});
