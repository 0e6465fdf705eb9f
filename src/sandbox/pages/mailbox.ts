import { html } from 'hono/html';
import type { MailRecord } from '../model.ts';
import { table, time, when } from './layout.ts';
import type { Paged } from './paging.ts';

/** Mails to addresses that hold the text, newest first. */
export function mailsTo(mails: Iterable<MailRecord>, to: string): MailRecord[] {
  return [...mails].filter((mail) => mail.to.toLowerCase().includes(to.toLowerCase())).toReversed();
}

/** Every mail the service would have sent. */
export function mailbox(page: Paged<MailRecord>, to: string) {
  return html`<h1>Mailbox</h1>
    <form method="get" class="row search" role="search">
      <input type="search" id="to" name="to" value="${to}" aria-label="Mails to" placeholder="Mails to" autocomplete="off" />
      <button class="small">Show</button>
    </form>
    ${mailTable(page.shown, 'No mails. Signers are mailed when an envelope is sent.')} ${page.links}`;
}

export function mailTable(mails: readonly MailRecord[], empty: string) {
  const rows = mails.map((mail) => [
    when(mail.at),
    mail.to,
    html`<a href="/mailbox/${mail.id}">${mail.subject}</a>`,
  ]);
  return table(['Sent', 'To', 'Subject'], rows, empty);
}

/** One mail; a signing link of this sandbox can be followed. */
export function mailPage(mail: MailRecord, origin: string) {
  const link = mail.text.split(/\s+/).find((word) => word.startsWith(`${origin}/sign/`));
  return html`<h1>${mail.subject}</h1>
    <p class="quiet">
      To ${mail.to}, ${time(mail.at)}, about <a href="/envelopes/${mail.envelopeId}">${mail.envelopeId}</a>
    </p>
    <div class="card mailtext">${mail.text}</div>
    ${link === undefined ? '' : html`<p><a class="button" href="${link.slice(origin.length)}">Open and sign</a></p>`}`;
}
