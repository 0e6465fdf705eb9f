import { html } from 'hono/html';
import { ENVELOPE_STATUSES } from '../../kernel/vocabulary.ts';
import type { EnvelopeRecord, HistoryEntry, SignerRecord } from '../model.ts';
import { hasTurn, isActive } from '../service/engine/predicates.ts';
import type { State } from '../service/store/state.ts';
import { deliveryTable } from './deliveries.ts';
import { state, table, time, when } from './layout.ts';
import { mailTable } from './mailbox.ts';
import type { Paged } from './paging.ts';

/** What the list of envelopes is narrowed to; empty for all. */
export interface Wanted {
  text: string;
  status: string;
}

/** Envelopes with the text in their id, subject, template, metadata, or in a signer's name or address. */
export function matching(all: readonly EnvelopeRecord[], { text, status }: Wanted): EnvelopeRecord[] {
  const wanted = text.trim().toLowerCase();
  return all.filter(
    (one) => (status === '' || one.status === status) && (wanted === '' || wordsOf(one).includes(wanted)),
  );
}

function wordsOf(one: EnvelopeRecord): string {
  const signers = one.signers.flatMap(({ name, email }) => [name, email]);
  return [one.id, one.subject, one.templateName, ...signers, JSON.stringify(one.metadata)]
    .join('\n')
    .toLowerCase();
}

/** All envelopes, newest first. */
export function envelopeList(page: Paged<EnvelopeRecord>, { text, status }: Wanted) {
  const isNarrowed = text !== '' || status !== '';
  return html`<h1>Envelopes</h1>
    <form method="get" class="row search" role="search">
      <input type="search" name="q" value="${text}" aria-label="Search" placeholder="Name, address, subject, id or metadata" />
      <select name="status" aria-label="Status">
        <option value="">Any status</option>
        ${ENVELOPE_STATUSES.map((one) => html`<option value="${one}" ${one === status ? 'selected' : ''}>${one}</option>`)}
      </select>
      <button class="small">Search</button>
    </form>
    ${envelopeTable(page.shown, isNarrowed ? 'No envelope fits.' : 'None yet.')} ${page.links}`;
}

export function envelopeTable(envelopes: readonly EnvelopeRecord[], empty: string) {
  return table(['Created', 'Envelope', 'Status', 'Subject', 'Signers'], envelopes.map(row), empty);
}

function row(one: EnvelopeRecord): unknown[] {
  const signers = one.signers.map((signer) => html`<div>${signer.name} ${state(signer.status)}</div>`);
  return [when(one.createdAt), envelopeLink(one.id), state(one.status), one.subject, signers];
}

function envelopeLink(id: string) {
  return html`<a href="/envelopes/${id}"><code>${id}</code></a>`;
}

/** One envelope: where it stands, who signs, its papers, what happened, what was mailed and posted. */
export function envelopePage(one: EnvelopeRecord, records: State, form: string) {
  const mails = [...records.mails.values()].filter((mail) => mail.envelopeId === one.id).toReversed();
  const deliveries = [...records.deliveries.values()]
    .filter((sent) => sent.envelopeId === one.id)
    .toReversed();
  return html`<h1>${one.subject}</h1>
    <p><code>${one.id}</code> ${state(one.status)} <span class="quiet">from ${one.templateName}</span></p>
    ${one.message === '' ? '' : html`<div class="card mailtext">${one.message}</div>`}
    <h2>Signers</h2>
    ${table(
      ['Signer', 'Role', 'Order', 'Status', ''],
      one.signers.map((signer) => signerRow(one, signer)),
      'None.',
    )}
    <h2>Papers</h2>
    ${papers(one)}
    <h2>Timeline</h2>
    ${table(
      ['Time', 'What', 'Who', ''],
      one.history.map((entry) => historyRow(one, entry)),
      'Nothing yet.',
    )}
    <h2>Details</h2>
    ${table(['', 'Value'], details(one), '')}
    <h2>Mails</h2>
    ${mailTable(mails, 'None. Signers are mailed when the envelope is sent.')}
    <h2>Webhooks</h2>
    ${deliveryTable(deliveries, form, 'None. Create an envelope with --webhook-url.')}`;
}

function signerRow(envelope: EnvelopeRecord, signer: SignerRecord): unknown[] {
  const mailbox = html`<div>${signer.name}</div><div class="quiet">${signer.email}</div>`;
  const canSign = isActive(envelope) && hasTurn(signer);
  const link = canSign ? html`<a href="/sign/${signer.token}">Sign as ${signer.name}</a>` : '';
  return [mailbox, signer.role, signer.order, state(signer.status), link];
}

function papers({ id, signedDocumentStorageKey, certificateStorageKey }: EnvelopeRecord) {
  const link = (paper: string, label: string) => html`<a href="/envelopes/${id}/${paper}.pdf">${label}</a>`;
  return html`<p class="row">
    ${link('document', 'Document')} ${signedDocumentStorageKey === null ? '' : link('signed', 'Signed document')}
    ${certificateStorageKey === null ? '' : link('certificate', 'Certificate')}
  </p>`;
}

function historyRow({ signers }: EnvelopeRecord, { at, what, signerId, detail }: HistoryEntry): unknown[] {
  return [when(at), what, signers.find((one) => one.id === signerId)?.name ?? '', detail ?? ''];
}

function details(one: EnvelopeRecord): unknown[][] {
  const facts = {
    'Signing order': one.signingOrder.toLowerCase(),
    Created: time(one.createdAt),
    Sent: time(one.sentAt),
    Completed: time(one.completedAt),
    Expires: time(one.expiresAt),
    Webhook: one.webhookUrl ?? '',
    Metadata: Object.keys(one.metadata).length === 0 ? '' : JSON.stringify(one.metadata, null, 2),
  };
  return Object.entries(facts)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => [name, name === 'Metadata' ? html`<pre>${value}</pre>` : value]);
}
