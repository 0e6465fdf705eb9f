import type { SandboxEnvelope, SandboxSigner } from '../../embed-model.ts';
import type { EnvelopeRecord, KeyRecord, SignerRecord, SignerStatus, TemplateRecord } from '../../model.ts';
import { DEFAULT_RULES, type ServiceRules } from '../base/choices.ts';

/** Returns a template as the API shows it (Template, Template field): without coordinates, and without roles unless chosen. */
export function templateView(template: TemplateRecord, rules: ServiceRules) {
  const withRoles = rules['template-roles'] === 'shown';
  return {
    id: template.id,
    name: template.name,
    description: template.description,
    pageCount: template.pageCount,
    ...(withRoles ? { roles: template.roles } : {}),
    fields: template.fields.map(({ fieldId, type, shownType, label, required, page, role }) => ({
      fieldId,
      type: shownType ?? type,
      label,
      required,
      page,
      ...(withRoles ? { role } : {}),
    })),
    createdAt: template.createdAt,
    updatedAt: template.updatedAt,
  };
}

/** The API document doesn't list every signer status. These simulate values that a client has never seen. */
const UNKNOWN_WORDS: Partial<Record<SignerStatus, string>> = {
  PENDING: 'AWAITING_TURN',
  VIEWED: 'DELIVERED',
};

/** Returns a signer as the API shows it (Signer). */
export function signerView(signer: SignerRecord, rules: ServiceRules): SandboxSigner {
  const { id, email, name, role, order, signedAt, declinedAt, declineReason } = signer;
  const word = rules['signer-statuses'] === 'unknown' ? UNKNOWN_WORDS[signer.status] : undefined;
  return { id, email, name, role, order, status: word ?? signer.status, signedAt, declinedAt, declineReason };
}

/** Returns an envelope as the API shows it (Envelope), without the webhook secret. */
export function envelopeView(envelope: EnvelopeRecord, rules: ServiceRules): SandboxEnvelope {
  const { id, templateId, templateName, status, signingOrder, subject, message } = envelope;
  const { metadata, webhookUrl, expiresAt, createdAt, sentAt, completedAt } = envelope;
  const { documentStorageKey, signedDocumentStorageKey, certificateStorageKey } = envelope;
  return {
    ...{ id, templateId, templateName, status, signingOrder, subject, message },
    signers: envelope.signers.map((signer) => signerView(signer, rules)),
    ...{ metadata, webhookUrl, expiresAt, createdAt, sentAt, completedAt },
    ...{ documentStorageKey, signedDocumentStorageKey, certificateStorageKey },
  };
}

/** Returns an envelope as the list shows it. The API document doesn't specify the format of list items. */
export function listItemView(envelope: EnvelopeRecord, rules: ServiceRules) {
  if (rules['list-items'] === 'full') return envelopeView(envelope, rules);
  const { id, templateId, templateName, status, signingOrder, subject } = envelope;
  const { expiresAt, createdAt, sentAt, completedAt } = envelope;
  const times = { expiresAt, createdAt, sentAt, completedAt };
  return { id, templateId, templateName, status, signingOrder, subject, ...times };
}

/** Returns a key as the key list shows it (Authentication 7): with its prefix, never with the key or its hash. */
export function keyView(key: KeyRecord, now: number) {
  const { id, orgId, name, description, prefix, scopes, createdAt, lastUsedAt, expiresAt, revokedAt } = key;
  const expired = expiresAt !== null && Date.parse(expiresAt) <= now;
  const status = revokedAt !== null ? 'revoked' : expired ? 'expired' : 'active';
  const times = { createdAt, lastUsedAt, expiresAt, revokedAt };
  return { id, orgId, name, description, prefix, scopes, status, ...times };
}

interface PageItems<T> {
  items: readonly T[];
  total: number;
}

export function itemsOnPage<T>(all: readonly T[], page: number, pageSize: number): PageItems<T> {
  const start = (page - 1) * pageSize;
  return { items: all.slice(start, start + pageSize), total: all.length };
}

/** Returns a page of a list (Response envelope, Pagination parameters). */
export function listResponse(
  { items, total }: PageItems<unknown>,
  page: number,
  pageSize: number,
  rules: ServiceRules = DEFAULT_RULES,
) {
  const totals = rules['list-total'] === 'shown' ? { total, totalPages: Math.ceil(total / pageSize) } : {};
  return { data: items, meta: { pagination: { page, pageSize, ...totals } } };
}
