import type { Envelope, Signer } from '../../../api/resource-types.ts';
import { sealerName } from '../../../documents/commands/download-lines.ts';
import type { SealWithTrust } from '../../../documents/seal/judge.ts';
import { hasSealedPart } from '../../../documents/seal/sealed-part.ts';
import { counted } from '../../../kernel/duration.ts';
import { hasSigned } from '../../../kernel/statuses.ts';
import { valueText } from '../../../kernel/text/exact-json.ts';
import { mailboxOf } from '../../../kernel/text/person.ts';
import { exactTime } from '../../../output/time.ts';
import { type Fact, factList, statusChip, table } from '../../../pages/components.ts';
import { type Content, type Html, html } from '../../../pages/html.ts';
import { selfContainedPage } from '../../../pages/layout.ts';
import { SEALED_KINDS } from '../../evidence/findings.ts';
import type { EvidenceReminder, EvidenceWebhook, EvidenceWrite } from '../../evidence/sources.ts';
import { type TimelineEntry, timelineOf } from '../../evidence/timeline.ts';

/** A document in the folder, or why it is missing. */
export interface EvidenceDocument {
  what: string | null;
  key: string | null;
  sha256: string | null;
  seal: SealWithTrust | null;
  /** The name of its file; null if it is missing. */
  name: string | null;
  bytes: number | null;
  /** The name of the file with what was sealed, if data was added later. */
  sealedPart: string | null;
  /** Why it is missing or not valid. */
  error: { code: string; message: string } | null;
}

export interface EvidenceFacts {
  envelope: Envelope;
  documents: readonly EvidenceDocument[];
  /** Documents that don't exist, and why. */
  missing: readonly { what: string; why: string }[];
  webhooks: readonly EvidenceWebhook[];
  reminders: readonly EvidenceReminder[];
  writes: readonly EvidenceWrite[];
  collection: EvidenceCollection;
}

/** When, with which version, and from which service the evidence was collected. */
export interface EvidenceCollection {
  /** The time by this machine's clock, ISO 8601. */
  collectedAt: string;
  /** The version of esign. */
  version: string;
  baseUrl: string;
}

/** Builds the page to print, without scripts and links. `files` are the other files in the folder, with their hashes. */
export function evidencePage(evidence: EvidenceFacts, files: ReadonlyMap<string, string>): Promise<string> {
  const { envelope, documents, webhooks, reminders, writes, collection } = evidence;
  const title = envelope.subject || envelope.templateName || envelope.id;
  const signers = envelope.signers ?? [];
  const body = html`<header><p class="kind">Evidence for an envelope</p><h1>${title}</h1>
<p class="mono">${envelope.id} ${statusChip(envelope.status ?? 'unknown')}</p></header>
${verdict(evidence)}
${section('Envelope', factList(envelopeFacts(envelope)))}
${section('Signers', signerTable(signers))}
${section('Documents', documents.length === 0 ? 'None.' : documents.map(documentEntry))}
${section('What happened', timeline(timelineOf(envelope, webhooks, reminders, writes), signers))}
${section('Webhooks received here', webhookTable(webhooks))}
${writes.length > 0 && section('Commands on this machine', writeTable(writes))}
${section(
  'Files in this folder',
  table(
    ['File', 'SHA-256'],
    [...files].sort(byName).map(([name, sha256]) => [name, code(sha256)]),
    '',
  ),
)}
${section('How this was collected', factList(collectionFacts(collection)))}
${section('How to verify this', CHECKS)}`;
  return selfContainedPage({ title: `Evidence: ${title}`, look: 'printed evidence', body }, 'evidence.css');
}

function section(title: string, content: Content): Html {
  return html`<section><h2>${title}</h2>${content}</section>`;
}

/** Renders who signed and when, then whether the documents prove it. */
function verdict({ documents, missing, envelope }: EvidenceFacts): Html {
  const wrong = documents.filter(({ error }) => error !== null);
  const signatures = (envelope.signers ?? []).map(signatureOf);
  const reasons = [
    ...wrong.map(({ what, error }) => `${labelOf(what)}: ${error?.message}`),
    ...new Set(missing.map(({ why }) => why)),
  ];
  const sealed = documents.filter(({ what }) => what !== null && SEALED_KINDS.includes(what));
  const extended = sealed.filter(({ seal }) => hasSealedPart(seal));
  const isComplete = wrong.length === 0 && missing.length === 0;
  const isWhole = isComplete && extended.length === 0;
  const tone = wrong.length > 0 ? 'bad' : isWhole ? 'good' : 'open';
  const outcome = [
    wrong.length > 0 && "Don't rely on these documents.",
    isComplete ? sealersOf(sealed) : reasons.join(' '),
    isWhole && 'Nothing was changed or added afterwards.',
    wrong.length === 0 && extended.map(sealedPartOf).join(' '),
  ];
  const lines = [...signatures, ...outcome].filter(Boolean);
  return html`<div class="verdict ${tone}">${lines.map((line) => html`<p>${line}</p>`)}</div>`;
}

function signatureOf(signer: Signer): string {
  const { signedAt, declinedAt } = signer;
  const who = mailboxOf(signer);
  if (signedAt) return `${who} signed on ${exactTime(signedAt)}.`;
  if (declinedAt) return `${who} declined on ${exactTime(declinedAt)}.`;
  return `${who} ${hasSigned(signer) ? 'signed' : 'has not signed'}.`;
}

function sealersOf(sealed: readonly EvidenceDocument[]): string {
  const names = [...new Set(sealed.map(({ seal }) => sealerName(seal?.subject ?? null)))].join('; ');
  return `The signed document and the certificate were sealed by ${names}.`;
}

/** Describes which part of an extended document the seal proves. */
function sealedPartOf({ what, seal, sealedPart }: EvidenceDocument): string {
  const { sealedBytes, addedBytes } = seal ?? {};
  const part = sealedPart === null ? '' : ` (${sealedPart})`;
  return `${labelOf(what)}: only the first ${sealedBytes} bytes are sealed${part}. Added later and not covered: ${counted(addedBytes ?? 0, 'byte')}.`;
}

function labelOf(what: string | null): string {
  const labels: Readonly<Record<string, string>> = {
    signed: 'Signed document',
    certificate: 'Certificate of completion',
    document: 'Original document, before signing',
  };
  return labels[what ?? ''] ?? what ?? 'Document';
}

function envelopeFacts(envelope: Envelope): Fact[] {
  const { templateName, templateId, message, signingOrder, metadata } = envelope;
  const times = [
    ['Created', envelope.createdAt],
    ['Sent', envelope.sentAt],
    ['Completed', envelope.completedAt],
    ['Expires', envelope.expiresAt],
  ] as const;
  const more = Object.entries(metadata ?? {}).map(
    ([name, value]): Fact => [`Metadata: ${name}`, valueText(value)],
  );
  const template = [templateName, templateId && `(${templateId})`].filter(Boolean).join(' ');
  return [
    ['Template', template],
    ['Message', message],
    ['Signing order', signingOrder],
    ...times.map(([name, at]): Fact => [name, at && exactTime(at)]),
    ...more,
  ];
}

function signerTable(signers: readonly Signer[]): Html {
  const rows = signers.map(({ name, email, role, status, signedAt, declinedAt, declineReason }) => {
    const when = signedAt ?? declinedAt;
    return [name, email, role, [status, when && exactTime(when), declineReason].filter(Boolean).join(', ')];
  });
  return table(['Name', 'Address', 'Role', 'Status'], rows, 'None.');
}

function documentEntry(document: EvidenceDocument): Html {
  const { what, key, name, bytes, sha256, seal, sealedPart, error } = document;
  const known: Fact[] = [
    ['File', name],
    ['Storage key', key],
    ['Size', bytes === null ? '' : `${bytes} bytes`],
    ['Seal', seal && sealWords(seal)],
    ['What was sealed', sealedPart],
    ['Sealed by', plainName(seal?.subject)],
    ['Issued by', plainName(seal?.issuer)],
    ['Sealed at', seal?.time && `${exactTime(seal.time)}, according to the seal`],
    ['Trust', seal?.trust && TRUST[seal.trust]],
    ['Problem', error?.message],
    ['SHA-256', code(sha256)],
    ['Certificate, SHA-256', code(seal?.fingerprint)],
  ];
  return html`<article class="card ${error !== null && 'bad'}"><h3>${labelOf(what)}</h3>${factList(known)}</article>`;
}

const TRUST: Readonly<Record<NonNullable<SealWithTrust['trust']>, string>> = {
  pinned: 'the certificate first seen with this account',
  trusted: 'certified by a trusted authority',
  unknown: 'not confirmed',
  other: 'not the certificate first seen with this account',
};

/** A distinguished name without the escapes of RFC 4514, which people read as part of the name. */
function plainName(name: string | null | undefined): string | null {
  return name == null ? null : name.replace(/\\(.)/g, '$1');
}

function collectionFacts({ baseUrl, collectedAt, version }: EvidenceCollection): Fact[] {
  return [
    ['Service', code(baseUrl)],
    ['Collected', code(`${exactTime(collectedAt)}, by this machine's clock`)],
    ['Program', code(`esign ${version}`)],
  ];
}

function sealWords({ state, coverage, sealedBytes, addedBytes, reason }: SealWithTrust): string {
  if (state === 'unsigned') return 'none';
  if (state === 'unreadable') return `can't be checked: ${reason ?? ''}`;
  const is = state === 'intact' ? 'intact: unchanged since it was sealed' : `changed: ${reason ?? ''}`;
  if (coverage !== 'extended') return is;
  return `the first ${sealedBytes} bytes are ${is}; added later and not covered: ${counted(addedBytes ?? 0, 'byte')}`;
}

const SOURCES: Readonly<Record<TimelineEntry['source'], string>> = {
  service: 'the service, in the envelope',
  webhook: 'a webhook received here',
  here: 'this machine',
};

function timeline(moments: readonly TimelineEntry[], all: readonly Signer[]): Html {
  const named = (email: string | null) => {
    const signer = all.find((one) => one.email === email);
    return signer === undefined ? email : mailboxOf(signer);
  };
  const rows = moments.map(({ at, what, who, source, verified }) => {
    const signed = verified === null ? '' : verified ? ', valid signature' : ', signature not checked';
    return [exactTime(at), what, named(who), `${SOURCES[source]}${signed}`];
  });
  return table(['When', 'What', 'Who', 'Source'], rows, 'None.');
}

function webhookTable(webhooks: readonly EvidenceWebhook[]): Html {
  const rows = webhooks.map(({ receivedAt, event, deliveryId, verified, duplicate, headers, sha256 }) => {
    const signature = headers.find(([name]) => /signature/i.test(name))?.[1] ?? 'none';
    const proof = factList([
      ['Delivery', code(deliveryId)],
      ['Signature', code(signature)],
      ['SHA-256 of the body', code(sha256)],
    ]);
    const words = `${verified ? 'valid' : 'not checked'}${duplicate ? ', duplicate' : ''}`;
    return [exactTime(receivedAt), event, words, proof];
  });
  const heads = ['Received', 'Event', 'Signature', 'How to verify it'];
  return table(heads, rows, 'No webhooks are stored on this machine.');
}

function writeTable(writes: readonly EvidenceWrite[]): Html {
  const rows = writes.map(({ at, user, command, outcome, error, id }) => {
    const result = error === null ? outcome : `${outcome}: ${error}`;
    return [exactTime(at), code(`esign ${command}`), user, result, code(id)];
  });
  return table(['When', 'Command', 'User', 'Outcome', 'Log entry'], rows, 'None.');
}

const CHECKS = html`<ol>
<li>To verify that no file was changed, run <code>sha256sum -c SHA256SUMS</code> in this folder.</li>
<li>To verify a seal with a different program, run <code>pdfsig -nocert FILE.pdf</code> (poppler), or open the file in a PDF reader that
shows signatures. It reports “Signature is Valid”, and “Total document signed” unless data was added after the seal.</li>
<li>To verify that a webhook came from the service, compute the HMAC-SHA256 of its body (<code>bodyBase64</code> in
<code>webhooks.jsonl</code>) with the envelope's secret, and compare it with the signature above. The secret is not in this
folder.</li>
<li>To verify which certificate sealed a document, ask the service for its fingerprint through a separate channel.</li>
</ol>`;

function code(value: string | null | undefined): Content {
  return value && html`<code>${value}</code>`;
}

function byName([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1;
}
