import { dateTime, emptyState, table, timeWithAge } from '../../pages/components.ts';
import { type Html, html, verbatim } from '../../pages/html.ts';
import type { SandboxMail } from '../embed-model.ts';
import type { EnvelopeRecord, MailRecord } from '../model.ts';
import { subjectOf } from '../service/engine/mails.ts';
import type { StoreState } from '../service/store/state.ts';
import { CREATE_COMMAND, type PagedList } from './layout.ts';

const NO_MAILS = emptyState('No emails yet', 'Signers are emailed when an envelope is sent:', CREATE_COMMAND);

/** Returns the emails to addresses that contain the text, newest first. */
export function mailsTo(mails: Iterable<MailRecord>, to: string): MailRecord[] {
  return newestFirst([...mails].filter((mail) => mail.to.toLowerCase().includes(to.toLowerCase())));
}

/** Sorts emails by time, because seeded emails aren't stored in the order in which they were sent. */
export function newestFirst(mails: readonly MailRecord[]): MailRecord[] {
  return mails.toReversed().sort((a, b) => Number(a.at < b.at) - Number(a.at > b.at));
}

/** Returns the list of emails that the service would have sent. */
export function mailbox(page: PagedList<MailRecord>, envelopes: Envelopes, to: string) {
  return html`<h1>Mailbox</h1>
    <form method="get" class="row search" role="search">
      <input type="search" id="to" name="to" value="${verbatim(to)}" aria-label="Filter by recipient" placeholder="Filter by recipient" autocomplete="off">
      <button class="main">Filter</button>
      ${to === '' ? '' : html`<a href="/mailbox">Clear</a>`}
    </form>
    ${mailTable(page.shown, envelopes, to === '' ? NO_MAILS : emptyState('No emails to this recipient'))} ${page.links}`;
}

type Envelopes = StoreState['envelopes'];

export function mailTable(mails: readonly MailRecord[], envelopes: Envelopes, whenEmpty: Html | string) {
  const subject = ({ kind, envelopeId }: MailRecord) => {
    const envelope: EnvelopeRecord | undefined = envelopes.get(envelopeId);
    return envelope === undefined ? '' : subjectOf(kind, envelope);
  };
  const rows = mails.map((mail) => [
    timeWithAge(mail.at),
    mail.to,
    html`<a href="/mailbox/${mail.id}" dir="auto">${subject(mail)}</a>`,
  ]);
  return table(['Sent', 'To', 'Subject'], rows, whenEmpty);
}

/** Returns the page of an email. Its signing link is a button, too. */
export function mailPage(mail: SandboxMail) {
  return html`<h1 dir="auto">${mail.subject}</h1>
    <p class="quiet">
      To ${mail.to} · ${dateTime(mail.at)} · <a href="/envelopes/${mail.envelopeId}">${mail.envelopeId}</a>
    </p>
    <div class="card mailtext" dir="auto">${mail.text}</div>
    ${mail.link === null ? '' : html`<p><a class="button main" href="${new URL(mail.link).pathname}">Open and sign</a></p>`}`;
}
