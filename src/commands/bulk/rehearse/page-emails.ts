import type { BulkRow } from '../../../bulk/rows/row.ts';
import { counted, grouped } from '../../../kernel/duration.ts';
import { htmlText } from '../../../output/html.ts';

/** An email, and the rows that send it. */
interface Email {
  templateId: string;
  subject: string | undefined;
  message: string | undefined;
  rows: BulkRow[];
}

const MAX_EMAILS = 5;
const OPEN_RECIPIENTS = 10;

/** Returns a card for each email that is sent, with its subject, its text, and its recipients. */
export function emailCards(rows: readonly BulkRow[], names: ReadonlyMap<string, string>): string {
  const emails = [...emailsOf(rows)].map((email) => card(email, names));
  const more = emails.slice(MAX_EMAILS);
  const rest =
    more.length === 0
      ? ''
      : `<details class="more"><summary>${grouped(more.length)} more</summary>${more.join('')}</details>`;
  return `${emails.slice(0, MAX_EMAILS).join('')}${rest}`;
}

/** Groups rows by email. Rows with the same template and text send the same email. */
function emailsOf(rows: readonly BulkRow[]): Iterable<Email> {
  const emails = new Map<string, Email>();
  for (const row of rows) {
    const { templateId, subject, message } = row.envelope;
    const key = JSON.stringify([templateId, subject, message]);
    const email = emails.get(key) ?? { templateId, subject, message, rows: [] };
    emails.set(key, email);
    email.rows.push(row);
  }
  return emails.values();
}

function card({ templateId, subject, message, rows }: Email, names: ReadonlyMap<string, string>): string {
  const recipients = rows.flatMap(({ line, envelope }) =>
    envelope.signers.map((signer) => {
      const { email, name, role } = signer;
      const who = name && name !== email ? `${name} <${email}>` : email;
      return `<li>${htmlText(role ? `${who}, ${role}` : who)} <span class="dim">line ${line}</span></li>`;
    }),
  );
  const list = `<ul>${recipients.join('')}</ul>`;
  const isOpen = recipients.length <= OPEN_RECIPIENTS ? ' open' : '';
  const title = subject ? htmlText(subject) : '<span class="none">The service\'s default subject</span>';
  const text = message ? `<p class="text">${multiline(message)}</p>` : '<p class="text none">No message</p>';
  const document = names.get(templateId);
  const about = document === undefined ? templateId : `${document} (${templateId})`;
  return `<article class="email"><h3>${title}</h3>${text}<p class="dim">Document: ${htmlText(about)}</p><details${isOpen}><summary>${counted(recipients.length, 'recipient')}</summary>${list}</details></article>`;
}

/** Returns the text with each line escaped. */
function multiline(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map(htmlText)
    .join('\n');
}
