import type { BulkRow } from '../../../bulk/rows/row.ts';
import { counted, durationInWords, grouped } from '../../../kernel/duration.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import { htmlText } from '../../../output/html.ts';
import { htmlPage, htmlSection, htmlTable } from '../../../output/page.ts';
import { PAGE_STYLE } from '../../../output/page-style.ts';
import { exactTime } from '../../../output/time.ts';
import type { SlowRow } from '../../../rehearsal/rehearse.ts';
import { completionCurve, sheetDrawing } from './page-drawings.ts';
import type { RehearsalResult, RehearseRequest } from './result.ts';
import { BASIS_TEXTS, dayText, timeText } from './view.ts';

const MAX_LATE = 20;
const MAX_SHEETS = 12;

/** Returns a rehearsal as a self-contained HTML page, for someone who decides without a terminal. */
export function rehearsalPage(result: RehearsalResult, request: RehearseRequest): string {
  const { sendable, pages } = result;
  const names = new Map(pages.map(({ id, name }) => [id, name]));
  const body = `${heading(result, request)}
${verdict(result)}
${tiles(result, request)}
${htmlSection('Emails', sendable.length === 0 ? '<p>None.</p>' : emailCards(sendable, names))}
${htmlSection('Expected completion', completion(result, request))}
${htmlSection('Risks', problems(result))}
${htmlSection('Requests and quota', costs(result))}
${htmlSection('Documents', sheets(result))}
${footer(result, request)}`;
  return htmlPage({ title: `Rehearsal of ${request.file}`, style: REHEARSAL_STYLE, body });
}

function heading({ envelopes, signers, at, baseUrl }: RehearsalResult, { file }: RehearseRequest): string {
  const iso = new Date(at).toISOString();
  const title =
    envelopes === 0
      ? 'Nothing would be sent'
      : `${counted(envelopes, 'envelope')} to ${counted(signers, 'signer')}`;
  return `<header><p class="kind">Rehearsal. Nothing was sent.</p><h1>${title}</h1>
<p class="dim">${htmlText(file)}, rehearsed <time datetime="${iso}">${exactTime(iso)}</time> for ${htmlText(baseUrl)}</p></header>`;
}

function verdict({ rows, failed, existing, caveats }: RehearsalResult): string {
  const skipped =
    existing === 0
      ? ''
      : ` ${counted(existing, 'row')} ${existing === 1 ? 'is' : 'are'} skipped, because the envelopes already exist.`;
  const guard = caveats.find(({ code }) => code === 'guards');
  if (guard !== undefined) return `<p class="verdict bad">${htmlText(guard.text)}</p>`;
  return failed.length === 0
    ? `<p class="verdict">All ${counted(rows - existing, 'row')} would be sent.${skipped}</p>`
    : `<p class="verdict bad">${grouped(failed.length)} of ${counted(rows, 'row')} would not be sent.${skipped}</p>`;
}

function tiles(result: RehearsalResult, request: RehearseRequest): string {
  const { expected, late, sentThisMonth } = result;
  const figures: [string, string][] = [
    ['half complete', dayText(expected.day50, request)],
    ['90% complete', dayText(expected.day90, request)],
    ['later than usual', counted(late.length, 'signer')],
    ['this month, including this run', counted(sentThisMonth, 'envelope')],
  ];
  return `<ul class="tiles">${figures.map(([label, figure]) => `<li><strong>${figure}</strong><span>${label}</span></li>`).join('')}</ul>`;
}

function completion(
  { envelopes, expected, completionDays, basis }: RehearsalResult,
  { days }: RehearseRequest,
): string {
  if (envelopes === 0) return '<p>No envelopes would be sent.</p>';
  const { completed, declined, expired, day50, day90 } = expected;
  const open = envelopes - completed - declined - expired;
  const curve = completionCurve(completionDays, { envelopes, days, day50, day90 });
  return `<p>After ${counted(days, 'day')}: ${grouped(completed)} completed, ${grouped(declined)} declined, ${grouped(expired)} expired, ${grouped(open)} open. Based on ${BASIS_TEXTS[basis]}.</p><div class="curve">${curve}</div>`;
}

function problems({ failed, late, caveats }: RehearsalResult): string {
  const refused =
    failed.length === 0
      ? ''
      : `<h3>Rows that would not be sent</h3>${htmlTable(
          ['Line', 'Reason'],
          failed.map(({ line, error }) => [grouped(line), htmlText(error.message)]),
        )}`;
  const list = caveats.map(({ text, action }) => `<li><p>${words(text)}</p><p>${words(action)}</p></li>`);
  return `${refused}${lateTable(late)}<h3>Why the actual run may differ, and what you can do</h3><ul class="caveats">${list.join('')}</ul>`;
}

function lateTable(late: readonly SlowRow[]): string {
  if (late.length === 0) return '';
  const rows = late
    .slice(0, MAX_LATE)
    .map(({ line, name, email, role, waitingMs, usualMs }) => [
      grouped(line),
      htmlText(`${name} <${email}>, ${role}`),
      durationInWords(waitingMs),
      durationInWords(usualMs),
    ]);
  const more = late.length - rows.length;
  const rest = more > 0 ? `<p class="dim">and ${grouped(more)} more</p>` : '';
  return `<h3>Who would be late in this rehearsal</h3>${htmlTable(['Line', 'Signer', 'Takes', 'Usually'], rows)}${rest}`;
}

function costs(result: RehearsalResult): string {
  const { requests, rate, sentThisMonth, envelopes, emails } = result;
  const share = Math.round(rate.reserve * 100);
  const facts: [string, string][] = [
    ['Requests', `${grouped(requests)}, ${timeText(result)}`],
    [
      'Rate limit',
      `${counted(rate.requests, 'request')} in 15 minutes; ${share}% of them are reserved for your other systems`,
    ],
    ['Invitations', grouped(emails)],
    [
      'Envelopes this month',
      `${grouped(sentThisMonth - envelopes)} before this run, ${grouped(sentThisMonth)} after it`,
    ],
  ];
  return `<dl>${facts.map(([label, text]) => `<div><dt>${label}</dt><dd>${text}</dd></div>`).join('')}</dl>`;
}

function sheets({ pages }: RehearsalResult): string {
  if (pages.length === 0) return '';
  const figures = pages
    .slice(0, MAX_SHEETS)
    .map(
      (page) =>
        `<figure class="sheet">${sheetDrawing(page)}<figcaption>${htmlText(page.name)} <span class="dim">${htmlText(page.id)}, page ${page.page} of ${page.pageCount}</span></figcaption></figure>`,
    );
  return `<p>The first pages of each template, as placeholders. The fields are real, but their positions and the text are not.</p><div class="pages">${figures.join('')}</div>`;
}

function footer({ failed, rows }: RehearsalResult, { file, plan }: RehearseRequest): string {
  if (rows === failed.length) return '';
  const send =
    plan === undefined
      ? 'To send exactly this, rehearse it with <code>--plan</code>.'
      : `To send exactly this: <code>${htmlText(command('bulk', 'create', file, '--plan', plan, '--send'))}</code>, with the same flags as the rehearsal.`;
  return `<footer><p>${send}</p></footer>`;
}

/** Returns text with \`commands\` as HTML. */
function words(text: string): string {
  return htmlText(text).replace(/`([^`]*)`/g, '<code>$1</code>');
}

/** The style of a report, with additions for a rehearsal. */
const REHEARSAL_STYLE = `${PAGE_STYLE}
:root{--good:#1a7f4b;--bad:#b3261e;--dim:#5a6168;--card:#8881;--rule:#8884;background:#fff;color:#16191d}
@media (prefers-color-scheme:dark){:root{--good:#5fc98f;--bad:#ff8a80;--dim:#a6adb4;--card:#ffffff0d;background:#14171a;color:#e8eaed}}
*{box-sizing:border-box}body{max-width:54rem;padding:0 1.25rem 3rem;overflow-wrap:anywhere}p{margin:.4rem 0}
header{margin-bottom:1.5rem}h1{font-size:2rem;line-height:1.2;margin:.2rem 0 .4rem;letter-spacing:-.01em}
h2{font-size:1.3rem;margin:2.75rem 0 .75rem;padding-top:1rem;border-top:1px solid var(--rule)}h3{font-size:1rem;margin:1.5rem 0 .4rem}
.kind{font-size:.8rem;font-weight:600;letter-spacing:.06em;text-transform:uppercase;color:var(--sent)}.dim{color:var(--dim)}
.verdict{border:1px solid var(--rule);border-left:.4rem solid var(--good);border-radius:.4rem;padding:.7rem 1rem;font-size:1.1rem}.verdict.bad{border-left-color:var(--bad)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;margin:1rem 0 0;padding:0;list-style:none}
.tiles li{background:var(--card);border-radius:.5rem;padding:.8rem 1rem}.tiles strong{display:block;font-size:1.35rem;line-height:1.25}.tiles span{color:var(--dim);font-size:.9rem}
.email{border:1px solid var(--rule);border-radius:.5rem;margin:.75rem 0;padding:.9rem 1.1rem;break-inside:avoid}
.email h3{margin:0 0 .4rem;font-size:1.05rem}.email .text{white-space:pre-line;margin:0 0 .7rem}.email ul{margin:.4rem 0 0;padding-left:1.2rem}
.none{font-style:italic;color:var(--dim);font-weight:400}summary{cursor:pointer;color:var(--sent)}.more{margin:.75rem 0}
td,td:first-child,th,th:first-child{text-align:left;vertical-align:top}tbody td:last-child,thead th:last-child{padding-right:0}th{min-width:0}th:first-child{min-width:3.5rem}thead th{color:var(--dim);font-size:.9rem}
td,th{overflow-wrap:normal}td:nth-child(2){overflow-wrap:anywhere}.curve svg{max-width:42rem}.curve text{font-size:14px}.area{fill:var(--sent);opacity:.16}.line{fill:none;stroke:var(--sent);stroke-width:2.5;stroke-linejoin:round}
.grid{stroke:currentColor;opacity:.16}.dot{fill:var(--done);stroke:none}.axis{opacity:.75}
.caveats{list-style:none;margin:0;padding:0}.caveats li{padding:.7rem 0;border-bottom:1px solid var(--rule);break-inside:avoid}.caveats p{margin:0}.caveats p+p{color:var(--dim)}
.pages{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:1.5rem;margin:0}figure{margin:0;break-inside:avoid}figcaption{font-size:.9rem;margin-top:.5rem}
.sheet svg{border:1px solid var(--rule);border-radius:.25rem;background:#fff;box-shadow:0 1px 4px #0003}.sheet text{fill:#16191d}.sheet text{font-size:11px}.sheet .name{font-size:22px}.sheet .soft{fill:#5a6168}.sheet .mark-text{font-size:28px;fill:#b3261e;font-weight:700;letter-spacing:2px}
.sheet .mark-box{fill:none;stroke:#b3261e}.sheet .field{fill:#0072b214;stroke:#0072b2}.sheet .must{fill:#b3261e}
footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--rule);color:var(--dim);font-size:.9rem}code{font:.9em/1.4 ui-monospace,"DejaVu Sans Mono",monospace}
@media (max-width:34rem){body{margin:1rem auto}h1{font-size:1.6rem}.tiles{grid-template-columns:1fr 1fr}dl div{flex-direction:column}dt,dd{flex:none}td,th{padding-right:.6rem}}
@page{size:A4;margin:16mm 15mm}
@media print{:root{background:#fff;color:#16191d;--sent:#0072b2;--done:#e69f00;--good:#1a7f4b;--bad:#b3261e;--dim:#5a6168;--line:#555}body{padding:0}h1{font-size:20pt}h2{break-after:avoid;margin-top:1.75rem}
section{break-inside:auto}details::details-content{content-visibility:visible;display:block}summary{list-style:none;color:inherit}.tiles,.verdict,.curve{break-inside:avoid}
.area,.line,.dot,.verdict,.tiles li,.sheet *{print-color-adjust:exact;-webkit-print-color-adjust:exact}.pages{grid-template-columns:repeat(2,1fr)}.sheet svg{box-shadow:none}}
`;

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
function emailCards(rows: readonly BulkRow[], names: ReadonlyMap<string, string>): string {
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
