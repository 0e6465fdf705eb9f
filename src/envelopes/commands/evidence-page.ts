import type { Envelope, Signer } from '../../api/schemas.ts';
import { sealerName } from '../../documents/commands/download-lines.ts';
import type { JudgedSeal } from '../../documents/seal/judge.ts';
import { exactTime } from '../../output/time.ts';
import { htmlText } from '../../pages/escape.ts';
import { htmlPage, htmlSection, htmlTable } from '../../pages/page.ts';
import { type DocumentFacts, SEALED } from '../evidence/findings.ts';
import type { Collection } from '../evidence/folder.ts';
import type { EvidenceReminder, EvidenceWebhook, EvidenceWrite } from '../evidence/sources.ts';
import { type TimelineEntry, timelineOf } from '../evidence/timeline.ts';

/** A document in the folder, or why it is missing. */
export interface EvidenceDocument extends DocumentFacts {
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
  collection: Collection;
}

/**
 * Builds the page to print, without scripts and links. `files` are the other files in the folder, with their hashes.
 */
export function evidencePage(facts: EvidenceFacts, files: ReadonlyMap<string, string>): string {
  const { envelope, documents, webhooks, reminders, writes, collection } = facts;
  const title = envelope.subject || envelope.templateName || envelope.id;
  const body = `<header><p class="kind">Evidence for an envelope</p><h1>${htmlText(title)}</h1>
<p class="id">${htmlText(envelope.id)} <span class="status">${htmlText(envelope.status ?? 'unknown')}</span></p></header>
${verdict(facts)}
${htmlSection('Envelope', pairs(envelopeFacts(envelope)))}
${htmlSection('Signers', signers(envelope.signers ?? []))}
${htmlSection('Documents', documents.map(documentEntry).join('') || '<p>None.</p>')}
${htmlSection('What happened', timeline(timelineOf(envelope, webhooks, reminders), envelope.signers ?? []))}
${htmlSection('Webhooks received here', received(webhooks))}
${htmlSection('Commands on this machine', logged(writes))}
${htmlSection(
  'Files in this folder',
  htmlTable(
    ['File', 'SHA-256'],
    [...files].sort(byName).map(([name, sha256]) => [htmlText(name), code(sha256)]),
  ),
)}
${htmlSection('How this was collected', pairs(collectionFacts(collection)))}
${htmlSection('How to verify this', CHECKS)}`;
  return htmlPage({ title: `Evidence: ${title}`, style: PAGE_STYLE, body });
}

/** Renders who signed and when, then whether the documents prove it. */
function verdict({ documents, missing, envelope }: EvidenceFacts): string {
  const wrong = documents.filter(({ error }) => error !== null);
  const signatures = (envelope.signers ?? []).map(signatureOf);
  const reasons = [
    ...wrong.map(({ what, error }) => `${labelOf(what)}: ${error?.message}`),
    ...new Set(missing.map(({ why }) => why)),
  ];
  const isProven = wrong.length === 0 && missing.length === 0;
  const outcome = isProven ? proofOf(documents) : reasons.join(' ');
  const tone = wrong.length > 0 ? 'bad' : isProven ? 'good' : 'open';
  const heading = { bad: "Don't rely on these documents.", open: '', good: '' }[tone];
  const lines = [...signatures, heading, outcome].filter((line) => line !== '');
  return `<div class="verdict ${tone}">${lines.map((line) => `<p>${htmlText(line)}</p>`).join('')}</div>`;
}

function signatureOf({ name, email, status, signedAt, declinedAt }: Signer): string {
  const who = [name, email && (name ? `(${email})` : email)].filter(Boolean).join(' ') || 'A signer';
  if (signedAt) return `${who} signed on ${exactTime(signedAt)}.`;
  if (declinedAt) return `${who} declined on ${exactTime(declinedAt)}.`;
  return `${who} ${status === 'SIGNED' ? 'signed' : 'has not signed'}.`;
}

function proofOf(documents: readonly EvidenceDocument[]): string {
  const sealed = documents.filter(({ what }) => what !== null && SEALED.includes(what));
  const names = [...new Set(sealed.map(({ seal }) => sealerName(seal?.subject ?? '')))].join('; ');
  return `The signed document and the certificate were sealed by ${names}. Nothing was changed or added afterwards.`;
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
    ([name, value]): Fact => [
      `Metadata: ${name}`,
      text(typeof value === 'string' ? value : JSON.stringify(value)),
    ],
  );
  const template = [templateName, templateId && `(${templateId})`].filter(Boolean).join(' ');
  return [
    ['Template', text(template)],
    ['Message', text(message)],
    ['Signing order', text(signingOrder)],
    ...times.map(([name, at]): Fact => [name, text(at && exactTime(at))]),
    ...more,
  ];
}

function signers(all: readonly Signer[]): string {
  const rows = all.map(({ name, email, role, status, signedAt, declinedAt, declineReason }) => {
    const when = signedAt ?? declinedAt;
    const words = [status ?? '', when ? exactTime(when) : '', declineReason ?? ''].filter(
      (one) => one !== '',
    );
    return [name, email, role, words.join(', ')].map((one) => htmlText(one ?? ''));
  });
  return htmlTable(['Name', 'Address', 'Role', 'Status'], rows);
}

function documentEntry({
  what,
  key,
  name,
  bytes,
  sha256,
  seal,
  sealedPart,
  error,
}: EvidenceDocument): string {
  const facts: Fact[] = [
    ['File', text(name)],
    ['Storage key', text(key)],
    ['Size', bytes === null ? '' : `${bytes} bytes`],
    ['Seal', text(seal && sealWords(seal))],
    ['What was sealed', text(sealedPart)],
    ['Sealed by', text(plainName(seal?.subject))],
    ['Issued by', text(plainName(seal?.issuer))],
    ['Sealed at', text(seal?.time && `${exactTime(seal.time)}, according to the seal`)],
    ['Trust', text(seal?.trust && TRUST[seal.trust])],
    ['Problem', text(error?.message)],
    ['SHA-256', code(sha256)],
    ['Certificate, SHA-256', code(seal?.fingerprint)],
  ];
  const tone = error === null ? '' : ' class="bad"';
  return `<article${tone}><h3>${htmlText(labelOf(what))}</h3>${pairs(facts)}</article>`;
}

const TRUST: Readonly<Record<NonNullable<JudgedSeal['trust']>, string>> = {
  pinned: 'the certificate first seen with this account',
  trusted: 'certified by a trusted authority',
  unknown: 'not confirmed',
  other: 'not the certificate first seen with this account',
};

/** A distinguished name without the escapes of RFC 4514, which people read as part of the name. */
function plainName(name: string | null | undefined): string | null {
  return name == null ? null : name.replace(/\\(.)/g, '$1');
}

function collectionFacts({ account, baseUrl, collectedAt, version }: Collection): Fact[] {
  return [
    ['Account', code(account)],
    ['Service', code(baseUrl)],
    ['Collected', code(`${exactTime(collectedAt)}, by this machine's clock`)],
    ['Program', code(`esign ${version}`)],
  ];
}

function sealWords({ state, coverage, sealedBytes, addedBytes, reason }: JudgedSeal): string {
  if (state === 'unsigned') return 'none';
  if (state === 'unreadable') return `can't be checked: ${reason ?? ''}`;
  const is = state === 'intact' ? 'intact: unchanged since it was sealed' : `changed: ${reason ?? ''}`;
  if (coverage !== 'extended') return is;
  return `the first ${sealedBytes} bytes are ${is}; ${addedBytes} bytes were added later and are not covered`;
}

const SOURCES: Readonly<Record<TimelineEntry['source'], string>> = {
  service: 'the service, in the envelope',
  webhook: 'a webhook received here',
  here: 'this machine',
};

function timeline(moments: readonly TimelineEntry[], all: readonly Signer[]): string {
  const named = (email: string | null) => {
    const name = all.find((signer) => signer.email === email)?.name;
    return name && email ? `${name} (${email})` : (email ?? '');
  };
  const rows = moments.map(({ at, what, who, source, verified }) => {
    const signed = verified === null ? '' : verified ? ', valid signature' : ', signature not checked';
    return [exactTime(at), what, named(who), `${SOURCES[source]}${signed}`].map(htmlText);
  });
  return htmlTable(['When', 'What', 'Who', 'Source'], rows);
}

function received(webhooks: readonly EvidenceWebhook[]): string {
  if (webhooks.length === 0) return '<p>No webhooks are stored on this machine.</p>';
  const rows = webhooks.map(({ receivedAt, event, deliveryId, verified, duplicate, headers, sha256 }) => {
    const signature = headers.find(([name]) => /signature/i.test(name))?.[1] ?? 'none';
    const words = `${verified ? 'valid' : 'not checked'}${duplicate ? ', duplicate' : ''}`;
    const proof = `<dl class="tight"><dt>Delivery</dt><dd>${code(deliveryId)}</dd><dt>Signature</dt><dd>${code(signature)}</dd><dt>SHA-256 of the body</dt><dd>${code(sha256)}</dd></dl>`;
    return [htmlText(exactTime(receivedAt)), htmlText(event ?? ''), words, proof];
  });
  return htmlTable(['Received', 'Event', 'Signature', 'How to verify it'], rows);
}

function logged(writes: readonly EvidenceWrite[]): string {
  const rows = writes.map(({ at, user, command, outcome, error, id }) => [
    htmlText(exactTime(at)),
    code(`esign ${command}`),
    htmlText(user),
    htmlText(error === null ? outcome : `${outcome}: ${error}`),
    code(id),
  ]);
  return htmlTable(['When', 'Command', 'User', 'Outcome', 'Log entry'], rows);
}

const CHECKS = `<ol>
<li>To verify that no file was changed, run <code>sha256sum -c SHA256SUMS</code> in this folder.</li>
<li>To verify a seal with a different program, run <code>pdfsig -nocert FILE.pdf</code> (poppler), or open the file in a PDF reader that
shows signatures. It reports “Signature is Valid”, and “Total document signed” unless data was added after the seal.</li>
<li>To verify that a webhook came from the service, compute the HMAC-SHA256 of its body (<code>bodyBase64</code> in
<code>webhooks.jsonl</code>) with the envelope's secret, and compare it with the signature above. The secret is not in this
folder.</li>
<li>To verify which certificate sealed a document, ask the service for its fingerprint through a separate channel.</li>
</ol>`;

/** A label and its value in HTML, which may be empty. */
type Fact = readonly [string, string];

/** Builds a list of the facts that have a value. */
function pairs(facts: readonly Fact[]): string {
  const rows = facts
    .filter(([, value]) => value !== '')
    .map(([label, value]) => `<dt>${htmlText(label)}</dt><dd>${value}</dd>`);
  return rows.length === 0 ? '' : `<dl>${rows.join('')}</dl>`;
}

function text(value: string | null | undefined): string {
  return htmlText(value ?? '');
}

function code(value: string | null | undefined): string {
  return value == null ? '' : `<code>${htmlText(value)}</code>`;
}

function byName([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1;
}

/** Styles for printing: black on white, no meaning by color alone, no page breaks inside an entry. */
const PAGE_STYLE = `
@page{size:A4;margin:18mm 16mm}
:root{font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;color:#16191d;background:#fff}
*{box-sizing:border-box}
body{max-width:54rem;margin:2.5rem auto;padding:0 1.25rem}
header{border-bottom:2px solid #16191d;padding-bottom:.8rem}
.kind{margin:0;font-size:.8rem;letter-spacing:.06em;text-transform:uppercase;color:#50575f}
h1{font-size:1.6rem;line-height:1.2;margin:.2rem 0 .4rem;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:1.8rem 0 .5rem;break-after:avoid}
h3{font-size:1rem;margin:0 0 .3rem;break-after:avoid}
p{margin:.3rem 0}
.id{margin:0;font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.85rem;overflow-wrap:anywhere}
.status{border:1px solid currentColor;border-radius:.25rem;padding:.05rem .4rem;margin-left:.4rem;font-weight:600}
.verdict{border:1px solid #8a929b;border-left-width:.45rem;padding:.5rem .9rem;margin:1.1rem 0;break-inside:avoid;overflow-wrap:anywhere}
.good{border-color:#1a7f4b}.open{border-color:#a67c00}.bad{border-color:#b3261e}.verdict.bad{font-weight:600}
dl{display:grid;grid-template-columns:minmax(7rem,11rem) 1fr;gap:.15rem 1rem;margin:0}
dt{color:#50575f;overflow-wrap:anywhere}dd{margin:0;overflow-wrap:anywhere}
dl.tight{grid-template-columns:1fr;gap:0}dl.tight dt{font-size:.75rem}
article{border:1px solid #c9ced4;border-radius:.3rem;padding:.7rem .9rem;margin:.6rem 0;break-inside:avoid}
table{border-collapse:collapse;width:100%;font-size:.92em}
th,td{text-align:left;vertical-align:top;padding:.35rem .7rem .35rem 0;border-bottom:1px solid #c9ced4;overflow-wrap:anywhere}
th{font-size:.8rem;color:#50575f;white-space:nowrap}thead{display:table-header-group}tr{break-inside:avoid}
td{min-width:7rem}td:first-child{white-space:nowrap}td:nth-child(2){min-width:9.5rem}
code{font:.8rem/1.35 ui-monospace,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
ol{padding-left:1.2rem}li{margin:.3rem 0}
@media print{:root{font-size:10.5pt}body{max-width:none;margin:0;padding:0}}
@media(max-width:40rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.4rem}td,td:nth-child(2){min-width:0}td:first-child{white-space:normal}}
`;
