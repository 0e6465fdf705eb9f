import { createHash } from 'node:crypto';
import { createDocumentMaker } from '../../src/sandbox/documents/index.ts';
import type { EnvelopeRecord, HistoryEntry, SignerRecord, TemplateRecord } from '../../src/sandbox/model.ts';

export const maker = createDocumentMaker();

export function template(id: string): TemplateRecord {
  const found = maker.templates().find((each) => each.id === id);
  if (!found) throw new Error(`no template ${id}`);
  return found;
}

/** A signer who has signed. */
export function signer(number: number, facts: Partial<SignerRecord> = {}): SignerRecord {
  const minute = String(number).padStart(2, '0');
  return {
    id: `sgn_${number}`,
    email: `signer${number}@example.com`,
    name: `Person Number ${number}`,
    role: 'Signer',
    order: number,
    status: 'SIGNED',
    signedAt: `2026-01-02T10:${minute}:12.345Z`,
    declinedAt: null,
    declineReason: null,
    token: 'token',
    signatureId: createHash('md5').update(`signature ${number}`).digest('hex'),
    values: {},
    ...facts,
  };
}

/** A completed envelope with a history derived from its signers. */
function envelope(
  of: TemplateRecord,
  signers: SignerRecord[],
  facts: Partial<EnvelopeRecord> = {},
): EnvelopeRecord {
  return {
    id: 'env_01JGKQ7Z4T8N3V5X',
    orgId: 'org_1',
    templateId: of.id,
    templateName: of.name,
    status: 'COMPLETED',
    signingOrder: 'PARALLEL',
    subject: 'Please sign',
    message: '',
    signers,
    metadata: {},
    webhookUrl: null,
    webhookSecret: null,
    expiresAt: '2026-02-01T00:00:00.000Z',
    createdAt: '2026-01-02T08:59:00.000Z',
    sentAt: '2026-01-02T09:00:00.000Z',
    completedAt: '2026-01-02T11:00:00.000Z',
    documentStorageKey: 'document.pdf',
    signedDocumentStorageKey: null,
    certificateStorageKey: null,
    history: historyOf(signers),
    ...facts,
  };
}

function historyOf(signers: SignerRecord[]): HistoryEntry[] {
  return [
    { at: '2026-01-02T08:59:00.000Z', what: 'created', signerId: null, detail: null },
    { at: '2026-01-02T09:00:00.000Z', what: 'sent', signerId: null, detail: null },
    ...signers.flatMap(({ id, signedAt }): HistoryEntry[] =>
      signedAt === null ? [] : [{ at: signedAt, what: 'signed', signerId: id, detail: null }],
    ),
    { at: '2026-01-02T11:00:00.000Z', what: 'completed', signerId: null, detail: null },
  ];
}

const documents = new Map<string, Uint8Array>();

/** The signer with the name in the signature fields that have no value. */
function withSignatures(of: TemplateRecord, one: SignerRecord): SignerRecord {
  const fields = of.fields.filter(({ type, role }) => type === 'SIGNATURE' && role === one.role);
  const typed = Object.fromEntries(fields.map(({ fieldId }) => [fieldId, one.name]));
  return { ...one, values: { ...typed, ...one.values } };
}

export async function signedPdf(
  of: TemplateRecord,
  signers: SignerRecord[],
  facts?: Partial<EnvelopeRecord>,
): Promise<Uint8Array> {
  const document = documents.get(of.id) ?? (await maker.document(of));
  documents.set(of.id, document);
  const signed = signers.map((one) => withSignatures(of, one));
  return maker.signed({ template: of, envelope: envelope(of, signed, facts), document });
}

export async function certificate(
  of: TemplateRecord,
  signers: SignerRecord[],
  facts?: Partial<EnvelopeRecord>,
): Promise<Uint8Array> {
  return maker.certificate({
    template: of,
    envelope: envelope(of, signers, facts),
    documentSha256: createHash('sha256').update('document').digest('hex'),
    signedSha256: createHash('sha256').update('signed').digest('hex'),
  });
}
