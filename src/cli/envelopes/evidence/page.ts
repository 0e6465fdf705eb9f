import type { Envelope, Signer } from '../../../api/schemas.ts';
import type { JudgedSeal } from '../../../documents/seal/judge.ts';
import type { KeptReminder, KeptWebhook } from '../../../evidence/sources.ts';
import { type Moment, timelineOf } from '../../../evidence/timeline.ts';
import { counted } from '../../../kernel/duration.ts';
import { htmlText } from '../../../output/html.ts';
import { exactTime } from '../../../output/time.ts';
import { sealerName } from '../../documents/view.ts';
import { PAGE_STYLE } from './page-style.ts';

/** A paper in the folder, or why it is not there. */
export interface PaperFacts {
  what: string | null;
  key: string | null;
  /** Of its file; null where it could not be had. */
  name: string | null;
  bytes: number | null;
  sha256: string | null;
  seal: JudgedSeal | null;
  /** Why it could not be had, or must not be believed. */
  error: { code: string; message: string } | null;
}

/** All that the page tells. */
export interface EvidenceFacts {
  envelope: Envelope;
  papers: readonly PaperFacts[];
  /** Papers that there are none of, and why. */
  missing: readonly { what: string; why: string }[];
  webhooks: readonly KeptWebhook[];
  reminders: readonly KeptReminder[];
}

/**
 * The page to print: no script, no address, nothing that depends on when it is made. `files` are the others in the folder,
 * with their hashes.
 */
export function evidencePage(facts: EvidenceFacts, files: ReadonlyMap<string, string>): string {
  const { envelope, papers, webhooks, reminders } = facts;
  const title = envelope.subject || envelope.templateName || envelope.id;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Evidence: ${htmlText(title)}</title><style>${PAGE_STYLE}</style></head><body>
<header><p class="kind">Evidence of an envelope</p><h1>${htmlText(title)}</h1>
<p class="id">${htmlText(envelope.id)} <span class="status">${htmlText(envelope.status ?? 'unknown')}</span></p></header>
${verdict(facts)}
${section('The envelope', pairs(envelopeFacts(envelope)))}
${section('Signers', signers(envelope.signers ?? []))}
${section('Papers', papers.map(paper).join('') || '<p>There are none.</p>')}
${section('What happened', timeline(timelineOf(envelope, webhooks, reminders)))}
${section('Webhooks received here', received(webhooks))}
${section(
  'Files of this folder',
  table(
    ['File', 'SHA-256'],
    [...files].sort(byName).map(([name, sha256]) => [htmlText(name), code(sha256)]),
  ),
)}
${section('How to check this', CHECKS)}
</body></html>
`;
}

/** What a reader has to know first. */
function verdict({ papers, missing, envelope }: EvidenceFacts): string {
  const wrong = papers.filter(({ error }) => error !== null);
  const said = [
    ...wrong.map(({ what, error }) => `The ${what} paper: ${error?.message}`),
    ...new Set(missing.map(({ why }) => why)),
  ];
  const sealed = papers.filter(({ seal, error }) => seal?.state === 'intact' && error === null);
  if (sealed.length > 0) {
    const names = [...new Set(sealed.map(({ seal }) => sealerName(seal?.subject ?? '')))].join('; ');
    said.push(`${counted(sealed.length, 'paper')} as sealed by ${names}; nothing was added since.`);
  }
  if (said.length === 0) said.push(`No paper of ${envelope.id} is sealed.`);
  const lines = said.map((one) => `<p>${htmlText(one)}</p>`).join('');
  return `<div class="verdict ${wrong.length > 0 ? 'bad' : missing.length > 0 ? 'open' : 'good'}">${lines}</div>`;
}

function section(title: string, body: string): string {
  return body === '' ? '' : `<section><h2>${title}</h2>${body}</section>`;
}

function envelopeFacts(envelope: Envelope): [string, string][] {
  const { templateName, templateId, message, signingOrder, metadata } = envelope;
  const times = [
    ['Created', envelope.createdAt],
    ['Sent', envelope.sentAt],
    ['Completed', envelope.completedAt],
    ['Expires', envelope.expiresAt],
  ] as const;
  const more = Object.entries(metadata ?? {}).map(([name, value]): [string, string] => [
    `Metadata: ${name}`,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const template = [templateName, templateId && `(${templateId})`].filter(Boolean).join(' ');
  const facts: [string, string | null | undefined][] = [
    ['Template', template],
    ['Message', message],
    ['Signing order', signingOrder],
    ...times.map(([name, at]): [string, string] => [name, at ? exactTime(at) : '']),
    ...more,
  ];
  return facts.flatMap(([name, value]): [string, string][] => (value ? [[name, htmlText(value)]] : []));
}

function signers(all: readonly Signer[]): string {
  const rows = all.map(({ name, email, role, status, signedAt, declinedAt, declineReason }) => {
    const when = signedAt ?? declinedAt;
    const words = [status ?? '', when ? exactTime(when) : '', declineReason ?? ''].filter(
      (one) => one !== '',
    );
    return [name, email, role, words.join(', ')].map((one) => htmlText(one ?? ''));
  });
  return table(['Name', 'Address', 'Role', 'Status'], rows);
}

function paper({ what, key, name, bytes, sha256, seal, error }: PaperFacts): string {
  const facts: [string, string | null | undefined][] = [
    ['File', name],
    ['Storage key', key],
    ['Size', bytes === null ? null : `${bytes} bytes`],
    ['Seal', seal === null ? null : sealWords(seal)],
    ['Sealed by', seal?.subject],
    ['Issued by', seal?.issuer],
    ['Sealed at', seal?.time == null ? null : `${exactTime(seal.time)}, as the signer says`],
    ['Level', seal?.level],
    ['Known', seal?.trust == null ? null : TRUST[seal.trust]],
    ['Wrong', error?.message],
  ];
  const shown = facts.flatMap(([label, value]): [string, string][] =>
    value ? [[label, htmlText(value)]] : [],
  );
  const hashes: [string, string][] = [
    ...(sha256 === null ? [] : [['SHA-256', code(sha256)] as [string, string]]),
    ...(seal?.fingerprint == null
      ? []
      : [['Certificate, SHA-256', code(seal.fingerprint)] as [string, string]]),
  ];
  const tone = error === null ? '' : ' class="bad"';
  return `<article${tone}><h3>${htmlText(what ?? '')}</h3>${pairs([...shown, ...hashes])}</article>`;
}

const TRUST: Readonly<Record<string, string>> = {
  pinned: 'the certificate that was first seen with this profile',
  trusted: 'the certificate leads to an authority that was named',
  unknown: 'nobody has said whose certificate this is',
  other: 'another certificate than the one first seen with this profile',
};

function sealWords({ state, coverage, addedBytes, reason }: JudgedSeal): string {
  if (state === 'unsigned') return 'none; the file carries no signature';
  if (state === 'unreadable') return `can’t be checked: ${reason ?? ''}`;
  const is = state === 'intact' ? 'intact: it is what was sealed' : `changed: ${reason ?? ''}`;
  if (coverage === 'extended') return `${is}; ${addedBytes ?? 'some'} bytes were added after it`;
  return coverage === 'partial' ? `${is}; it leaves out a part of the file` : `${is}, as a whole`;
}

const SOURCES: Readonly<Record<Moment['source'], string>> = {
  service: 'the service, in the envelope',
  webhook: 'a webhook received here',
  here: 'this machine',
};

function timeline(moments: readonly Moment[]): string {
  const rows = moments.map(({ at, what, who, source, verified }) => {
    const signed = verified === null ? '' : verified ? ', signature good' : ', signature not checked';
    return [exactTime(at), what, who ?? '', `${SOURCES[source]}${signed}`].map(htmlText);
  });
  return table(['When', 'What', 'Who', 'According to'], rows);
}

function received(webhooks: readonly KeptWebhook[]): string {
  if (webhooks.length === 0) return '<p>None. This machine listened to none, or keeps them no more.</p>';
  const rows = webhooks.map(({ receivedAt, event, deliveryId, verified, duplicate, headers, sha256 }) => {
    const signature = headers.find(([name]) => /signature/i.test(name))?.[1] ?? 'none';
    const words = `${verified ? 'good' : 'not checked'}${duplicate ? ', seen before' : ''}`;
    const proof = `<dl class="tight"><dt>Delivery</dt><dd>${code(deliveryId)}</dd><dt>Signature</dt><dd>${code(signature)}</dd><dt>SHA-256 of the body</dt><dd>${code(sha256)}</dd></dl>`;
    return [htmlText(exactTime(receivedAt)), htmlText(event ?? ''), words, proof];
  });
  return table(['Received', 'Event', 'Signature', 'To check it'], rows);
}

const CHECKS = `<ol>
<li>That no file was changed since: <code>sha256sum -c SHA256SUMS</code> in this folder.</li>
<li>That a paper is what was sealed, with a program of others: <code>pdfsig -nocert FILE.pdf</code> (poppler), or any reader of
PDF that shows signatures. “Total document signed” and “Signature is Valid” belong together.</li>
<li>That a webhook came from the service: the HMAC-SHA256 of its body (<code>bodyBase64</code> in <code>webhooks.jsonl</code>), with the
secret that was agreed on for the envelope, is the signature above. The secret is not in this folder.</li>
<li>Whose certificate sealed a paper is said by its fingerprint: ask the service for it on another way.</li>
</ol>`;

/** Labels with values that are HTML already. */
function pairs(facts: readonly (readonly [string, string])[]): string {
  const rows = facts.map(([label, value]) => `<dt>${htmlText(label)}</dt><dd>${value}</dd>`).join('');
  return rows === '' ? '' : `<dl>${rows}</dl>`;
}

/** Cells that are HTML already. */
function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const head = heads.map((one) => `<th scope="col">${one}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('');
  return `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
}

function code(value: string): string {
  return `<code>${htmlText(value)}</code>`;
}

function byName([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1;
}
