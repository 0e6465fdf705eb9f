import { DAY_MS } from '../../../kernel/duration.ts';
import { LIMITS } from '../../../kernel/vocabulary.ts';
import type { EnvelopeRecord, SignerRecord, TemplateRecord } from '../../model.ts';
import { invalidBody } from '../base/errors.ts';
import { isoTime } from '../base/sandbox-clock.ts';
import type { CreateBody } from '../base/validation.ts';
import type { RandomId } from '../store/keys.ts';
import { storageKey } from './document-store.ts';

/** Returns a new envelope in DRAFT (Create envelope body). Its expiry counts from creation. */
export function draftEnvelope(
  orgId: string,
  template: TemplateRecord,
  body: CreateBody,
  now: number,
  randomId: RandomId,
): EnvelopeRecord {
  const roles = assignRoles(template, body.signers);
  const id = `env_${randomId(10, 'env')}`;
  const at = isoTime(now);
  return {
    id,
    orgId,
    templateId: template.id,
    templateName: template.name,
    status: 'DRAFT',
    signingOrder: body.signingOrder ?? 'PARALLEL',
    subject: body.subject ?? `Please sign: ${template.name}`,
    message: body.message ?? '',
    signers: body.signers.map((signer, index) =>
      pendingSigner(signer, roles[index] ?? '', signer.order ?? index + 1, randomId),
    ),
    metadata: body.metadata ?? {},
    webhookUrl: body.webhookUrl ?? null,
    webhookSecret: body.webhookSecret ?? null,
    expiresAt: isoTime(now + (body.expiresInDays ?? LIMITS.expiresInDays) * DAY_MS),
    createdAt: at,
    sentAt: null,
    completedAt: null,
    documentStorageKey: storageKey({ id, orgId }, 'document'),
    signedDocumentStorageKey: null,
    certificateStorageKey: null,
    history: [{ at, what: 'created', signerId: null, detail: null }],
  };
}

/**
 * Returns a role for every signer: the requested one, or the template's next unassigned role, or its last role. Throws a VALIDATION_ERROR
 * with the template's roles if a requested role isn't one of them.
 */
function assignRoles(template: TemplateRecord, signers: CreateBody['signers']): string[] {
  const wrong = signers.flatMap(({ role }, index): [string, string[]][] =>
    role === undefined || template.roles.includes(role)
      ? []
      : [[`signers.${index}.role`, [`Must be one of the template's roles: ${template.roles.join(', ')}`]]],
  );
  if (wrong.length > 0) throw invalidBody(Object.fromEntries(wrong), 'The request body is not valid');
  const taken = new Set(signers.map((signer) => signer.role));
  return signers.map((signer) => {
    const role = signer.role ?? template.roles.find((one) => !taken.has(one)) ?? template.roles.at(-1) ?? '';
    taken.add(role);
    return role;
  });
}

function pendingSigner(
  signer: CreateBody['signers'][number],
  role: string,
  order: number,
  randomId: RandomId,
): SignerRecord {
  return {
    id: `signer_${randomId(10, 'signer')}`,
    email: signer.email,
    name: signer.name,
    role,
    order,
    status: 'PENDING',
    signedAt: null,
    declinedAt: null,
    declineReason: null,
    token: randomId(24, 'link'),
    signatureId: randomId(16).toUpperCase(),
    values: {},
  };
}
