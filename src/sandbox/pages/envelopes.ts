import { ENVELOPE_STATUSES } from '../../kernel/statuses.ts';
import { command } from '../../kernel/text/shell-words.ts';
import {
  copyableText,
  emptyState,
  factList,
  statusChip,
  table,
  timeWithAge,
} from '../../pages/components.ts';
import { type Html, html, verbatim } from '../../pages/html.ts';
import type { EnvelopeRecord, SignerRecord } from '../model.ts';
import { hasTurn, isActive } from '../service/engine/predicates.ts';
import type { StoreState } from '../service/store/state.ts';
import { deliveryTable } from './deliveries.ts';
import { CREATE_COMMAND, type PagedList } from './layout.ts';
import { mailTable, newestFirst } from './mailbox.ts';

/** The filter of the list; empty strings match all envelopes. */
interface EnvelopeFilter {
  text: string;
  /** A status, or OPEN for all envelopes that wait for signers. */
  status: string;
}

export const NO_ENVELOPES = emptyState('No envelopes yet', 'Create one:', CREATE_COMMAND);

/** Returns the envelopes with the text in their ID, subject, template, or metadata, or in a signer's name or email address. */
export function filterEnvelopes(
  all: readonly EnvelopeRecord[],
  { text, status }: EnvelopeFilter,
): EnvelopeRecord[] {
  const wanted = text.trim().toLowerCase();
  const hasStatus = (one: EnvelopeRecord) =>
    status === '' || (status === 'OPEN' ? isActive(one) : one.status === status);
  return all.filter((one) => hasStatus(one) && (wanted === '' || searchText(one).includes(wanted)));
}

function searchText(one: EnvelopeRecord): string {
  const signers = one.signers.flatMap(({ name, email }) => [name, email]);
  return [one.id, one.subject, one.templateName, ...signers, JSON.stringify(one.metadata)]
    .join('\n')
    .toLowerCase();
}

/** Returns the list of envelopes, newest first. */
export function envelopeList(page: PagedList<EnvelopeRecord>, { text, status }: EnvelopeFilter) {
  const isFiltered = text !== '' || status !== '';
  const option = (value: string, label: string) =>
    html`<option value="${value}" ${value === status ? 'selected' : ''}>${label}</option>`;
  return html`<h1>Envelopes</h1>
    <form method="get" class="row search" role="search">
      <input type="search" name="q" value="${verbatim(text)}" aria-label="Search" placeholder="Name, email, subject, ID, or metadata">
      <select name="status" aria-label="Status">
        ${option('', 'Any status')} ${option('OPEN', 'Waiting for signers')}
        ${ENVELOPE_STATUSES.map((one) => option(one, one.toLowerCase().replaceAll('_', ' ')))}
      </select>
      <button class="main">Search</button>
      ${isFiltered ? html`<a href="/envelopes">Clear</a>` : ''}
    </form>
    ${envelopeTable(page.shown, isFiltered ? emptyState('No matching envelopes') : NO_ENVELOPES)} ${page.links}`;
}

export function envelopeTable(envelopes: readonly EnvelopeRecord[], whenEmpty: Html) {
  return table(['Created', 'Envelope', 'Status', 'Signers'], envelopes.map(row), whenEmpty);
}

function row(one: EnvelopeRecord) {
  const signers = one.signers.map(
    (signer) =>
      html`<div class="signer"><span dir="auto">${signer.name}</span> ${statusChip(signer.status)}</div>`,
  );
  const envelope = html`<a href="/envelopes/${one.id}" dir="auto">${one.subject}</a>
    <div class="quiet"><code>${one.id}</code></div>`;
  return [timeWithAge(one.createdAt), envelope, statusChip(one.status), signers];
}

/** Returns the page of an envelope: status, signers, documents, history, emails, and webhooks. */
export function envelopePage(one: EnvelopeRecord, records: StoreState) {
  const mails = newestFirst([...records.mails.values()].filter((mail) => mail.envelopeId === one.id));
  const deliveries = [...records.deliveries.values()]
    .filter((sent) => sent.envelopeId === one.id)
    .toReversed();
  return html`<h1 dir="auto">${one.subject}</h1>
    <p class="row">${statusChip(one.status)} <code>${one.id}</code> <span class="quiet">${one.templateName}</span></p>
    ${one.message === '' ? '' : html`<div class="card mailtext" dir="auto">${one.message}</div>`}
    <h2>Signers</h2>
    ${table(
      ['Signer', 'Role', 'Order', 'Status', 'Actions'],
      one.signers.map((signer) => signerRow(one, signer)),
      'None.',
    )}
    <h2>Documents</h2>
    ${documents(one)}
    <h2>Commands</h2>
    ${commandsFor(one).map(copyableText)}
    <h2>History</h2>
    ${table(
      ['Time', 'Event', 'Signer', 'Details'],
      one.history.map(({ at, what, signerId, detail }) => {
        const signer = one.signers.find(({ id }) => id === signerId);
        return [timeWithAge(at), what, signer?.name ?? '', detail ?? ''];
      }),
      'Nothing yet.',
    )}
    <h2>Details</h2>
    <div class="card">${details(one)}</div>
    <h2>Emails</h2>
    ${mailTable(mails, records.envelopes, 'None. Signers are emailed when the envelope is sent.')}
    <h2>Webhooks</h2>
    ${deliveryTable(
      deliveries,
      one.webhookUrl === null ? 'None. The envelope has no webhook URL.' : 'None yet.',
    )}`;
}

function signerRow(envelope: EnvelopeRecord, signer: SignerRecord) {
  const mailbox = html`<div dir="auto">${signer.name}</div><div class="quiet">${signer.email}</div>`;
  const canSign = isActive(envelope) && hasTurn(signer);
  const path = `/sign/${signer.token}`;
  const actions = canSign
    ? html`<div class="row"><a class="button" href="${path}">Sign</a> <a class="button" href="${path}#decline">Decline</a></div>`
    : '';
  return [mailbox, signer.role, signer.order, statusChip(signer.status), actions];
}

/** Returns terminal commands for the next steps with the envelope. */
function commandsFor({ id, status }: EnvelopeRecord): string[] {
  if (status === 'DRAFT') return [command('envelopes', 'send', id), command('envelopes', 'cancel', id)];
  if (status === 'SENT' || status === 'IN_PROGRESS')
    return [
      command('sandbox', 'sign', id),
      command('envelopes', 'remind', id),
      command('envelopes', 'cancel', id),
    ];
  if (status === 'COMPLETED')
    return [command('envelopes', 'download', id), command('envelopes', 'evidence', id)];
  return [command('envelopes', 'replace', id)];
}

function documents({ id, signedDocumentStorageKey, certificateStorageKey }: EnvelopeRecord) {
  const link = (file: string, label: string) =>
    html`<a class="button" href="/envelopes/${id}/${file}.pdf">${label}</a>`;
  return html`<p class="row">
    ${link('document', 'Document')} ${signedDocumentStorageKey === null ? '' : link('signed', 'Signed document')}
    ${certificateStorageKey === null ? '' : link('certificate', 'Certificate')}
  </p>`;
}

function details(one: EnvelopeRecord): Html {
  const metadata = JSON.stringify(one.metadata, null, 2);
  return factList([
    ['Signing order', one.signingOrder.toLowerCase()],
    ['Created', timeWithAge(one.createdAt)],
    ['Sent', one.sentAt && timeWithAge(one.sentAt)],
    ['Completed', one.completedAt && timeWithAge(one.completedAt)],
    ['Expires', timeWithAge(one.expiresAt)],
    ['Webhook', one.webhookUrl],
    ['Metadata', metadata !== '{}' && html`<pre>${metadata}</pre>`],
  ]);
}
