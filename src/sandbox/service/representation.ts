import type { DeliveryRecord, EnvelopeRecord, KeyRecord, SignerRecord, TemplateRecord } from '../model.ts';

/** A template as the API shows it (Template, Template field): no roles, no coordinates. */
export function templateView(template: TemplateRecord) {
  return {
    id: template.id,
    name: template.name,
    description: template.description,
    pageCount: template.pageCount,
    fields: template.fields.map(({ fieldId, type, label, required, page }) => ({
      fieldId,
      type,
      label,
      required,
      page,
    })),
    createdAt: template.createdAt,
    updatedAt: template.updatedAt,
  };
}

/** A signer as the API shows it (Signer). */
export function signerView(signer: SignerRecord) {
  return {
    id: signer.id,
    email: signer.email,
    name: signer.name,
    role: signer.role,
    order: signer.order,
    status: signer.status,
    signedAt: signer.signedAt,
    declinedAt: signer.declinedAt,
    declineReason: signer.declineReason,
  };
}

/** An envelope as the API shows it (Envelope): never the webhook secret. */
export function envelopeView(envelope: EnvelopeRecord) {
  return {
    id: envelope.id,
    templateId: envelope.templateId,
    templateName: envelope.templateName,
    status: envelope.status,
    signingOrder: envelope.signingOrder,
    subject: envelope.subject,
    message: envelope.message,
    signers: envelope.signers.map(signerView),
    metadata: envelope.metadata,
    webhookUrl: envelope.webhookUrl,
    expiresAt: envelope.expiresAt,
    createdAt: envelope.createdAt,
    sentAt: envelope.sentAt,
    completedAt: envelope.completedAt,
    documentStorageKey: envelope.documentStorageKey,
    signedDocumentStorageKey: envelope.signedDocumentStorageKey,
    certificateStorageKey: envelope.certificateStorageKey,
  };
}

/** A key as the key list shows it (Authentication 7): the prefix, never the key nor its hash. */
export function keyView(key: KeyRecord, now: number) {
  const { id, orgId, name, description, prefix, scopes, createdAt, lastUsedAt, expiresAt, revokedAt } = key;
  const expired = expiresAt !== null && Date.parse(expiresAt) <= now;
  const status = revokedAt !== null ? 'revoked' : expired ? 'expired' : 'active';
  return {
    id,
    orgId,
    name,
    description,
    prefix,
    scopes,
    status,
    createdAt,
    lastUsedAt,
    expiresAt,
    revokedAt,
  };
}

/** A delivery as the control plane shows it. */
export function deliveryView(delivery: DeliveryRecord) {
  const { id, envelopeId, event, url, createdAt, state, nextAttemptAt, attempts, body } = delivery;
  return { id, envelopeId, event, url, createdAt, state, nextAttemptAt, attempts, body };
}

/** One page of a list (Response envelope, Pagination parameters): only the items shown are turned into JSON. */
export function pageView<T>(items: readonly T[], page: number, pageSize: number, view: (item: T) => unknown) {
  const start = (page - 1) * pageSize;
  return {
    data: items.slice(start, start + pageSize).map(view),
    meta: {
      pagination: { page, pageSize, total: items.length, totalPages: Math.ceil(items.length / pageSize) },
    },
  };
}
