import { expect, it, vi } from 'vitest';
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
