import { counted, durationInWords, grouped } from '../../../kernel/duration.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import { htmlText } from '../../../output/html.ts';
import { htmlPage } from '../../../output/page.ts';
import { exactTime } from '../../../output/time.ts';
import type { SlowRow } from '../../../rehearsal/rehearse.ts';
import { completionCurve, sheetDrawing } from './page-drawings.ts';
import { emailCards } from './page-emails.ts';
import { REHEARSAL_STYLE } from './page-style.ts';
import type { RehearsalResult, RehearseRequest } from './result.ts';
import { BASIS_TEXTS, dayText, timeText } from './view.ts';

const MAX_LATE = 20;
const MAX_SHEETS = 12;

/** Returns a rehearsal as a self-contained HTML page, for someone who decides without a terminal. */
export function rehearsalPage(result: RehearsalResult, wanted: RehearseRequest): string {
  const { sendable, pages } = result;
  const names = new Map(pages.map(({ id, name }) => [id, name]));
  const body = `${heading(result, wanted)}
${verdict(result)}
${tiles(result, wanted)}
${section('What is sent', sendable.length === 0 ? '<p>Nothing.</p>' : emailCards(sendable, names))}
${section('When it is complete', completion(result, wanted))}
${section('What could go wrong', problems(result))}
${section('What it costs', costs(result))}
${section('The documents', sheets(result))}
${footer(result, wanted)}`;
  return htmlPage({ title: `Rehearsal of ${wanted.file}`, style: REHEARSAL_STYLE, body });
}

function section(title: string, body: string): string {
  return body === '' ? '' : `<section><h2>${title}</h2>${body}</section>`;
}

function heading({ envelopes, signers, at, baseUrl }: RehearsalResult, { file }: RehearseRequest): string {
  const iso = new Date(at).toISOString();
  const title =
    envelopes === 0
      ? 'Nothing would be sent'
      : `${counted(envelopes, 'envelope')} to ${counted(signers, 'signer')}`;
  return `<header><p class="kind">Rehearsal, nothing was sent</p><h1>${title}</h1>
<p class="dim">${htmlText(file)}, rehearsed <time datetime="${iso}">${exactTime(iso)}</time> for ${htmlText(baseUrl)}</p></header>`;
}

function verdict({ rows, failed, existing, caveats }: RehearsalResult): string {
  const skipped =
    existing === 0
      ? ''
      : ` ${counted(existing, 'row')} ${existing === 1 ? 'is' : 'are'} skipped, because the envelopes exist.`;
  const guard = caveats.find(({ code }) => code === 'guards');
  if (guard !== undefined) return `<p class="verdict bad">${htmlText(guard.text)}</p>`;
  return failed.length === 0
    ? `<p class="verdict">All ${counted(rows - existing, 'row')} would be sent.${skipped}</p>`
    : `<p class="verdict bad">${grouped(failed.length)} of ${counted(rows, 'row')} would not be sent.${skipped}</p>`;
}

function tiles(result: RehearsalResult, wanted: RehearseRequest): string {
  const { expected, late, sentThisMonth } = result;
  const figures: [string, string][] = [
    ['half complete', dayText(expected.day50, wanted)],
    ['90% complete', dayText(expected.day90, wanted)],
    ['later than usual', counted(late.length, 'signer')],
    ['sent this month afterwards', counted(sentThisMonth, 'envelope')],
  ];
  return `<ul class="tiles">${figures.map(([label, figure]) => `<li><strong>${figure}</strong><span>${label}</span></li>`).join('')}</ul>`;
}

function completion(
  { envelopes, expected, completionDays, basis }: RehearsalResult,
  { days }: RehearseRequest,
): string {
  if (envelopes === 0) return '<p>Nothing is sent.</p>';
  const { completed, declined, expired, day50, day90 } = expected;
  const open = envelopes - completed - declined - expired;
  const curve = completionCurve(completionDays, { envelopes, days, day50, day90 });
  return `<p>After ${counted(days, 'day')}: ${grouped(completed)} completed, ${grouped(declined)} declined, ${grouped(expired)} expired, ${grouped(open)} open. From ${BASIS_TEXTS[basis]}.</p><div class="curve">${curve}</div>`;
}

function problems({ failed, late, caveats }: RehearsalResult): string {
  const refused =
    failed.length === 0
      ? ''
      : `<h3>Rows that would not be sent</h3>${table(
          ['Line', 'Reason'],
          failed.map(({ line, error }) => [grouped(line), htmlText(error.message)]),
        )}`;
  const list = caveats.map(({ text, action }) => `<li><p>${words(text)}</p><p>${words(action)}</p></li>`);
  return `${refused}${lateTable(late)}<h3>Why the real run may differ, and what to do</h3><ul class="caveats">${list.join('')}</ul>`;
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
  return `<h3>Who would be late in this rehearsal</h3>${table(['Line', 'Signer', 'Takes', 'Usually'], rows)}${rest}`;
}

function costs(result: RehearsalResult): string {
  const { requests, rate, sentThisMonth, envelopes, emails } = result;
  const share = Math.round(rate.reserve * 100);
  const facts: [string, string][] = [
    ['Requests', `${grouped(requests)}, ${timeText(result)}`],
    [
      'Rate limit',
      `${counted(rate.requests, 'request')} in 15 minutes; ${share}% of them are left for your other systems`,
    ],
    ['Invitations', grouped(emails)],
    [
      'Envelopes this month',
      `${grouped(sentThisMonth - envelopes)} sent before, ${grouped(sentThisMonth)} afterwards`,
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
  return `<p>The first pages of each template, as stand-ins. The fields are real; their places and the text are not.</p><div class="pages">${figures.join('')}</div>`;
}

function footer({ failed, rows }: RehearsalResult, { file, plan }: RehearseRequest): string {
  if (rows === failed.length) return '';
  const send =
    plan === undefined
      ? 'To send exactly this, rehearse it with <code>--plan</code>.'
      : `To send exactly this: <code>${htmlText(command('bulk', 'create', file, '--plan', plan, '--send'))}</code>, with the flags of the rehearsal.`;
  return `<footer><p>${send}</p></footer>`;
}

/** Returns text with \`commands\` as HTML. */
function words(text: string): string {
  return htmlText(text).replace(/`([^`]*)`/g, '<code>$1</code>');
}

/** Returns a table. The cells are already HTML. */
function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heads.map((name) => `<th scope="col">${name}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`);
  return `<table><thead><tr>${head}</tr></thead><tbody>${body.join('')}</tbody></table>`;
}
