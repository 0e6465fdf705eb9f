import type { Standout, Summary } from '../../../envelopes/summary.ts';
import { counted, durationInWords, grouped } from '../../../kernel/duration.ts';
import { entryOf } from '../../../kernel/json.ts';
import { htmlText } from '../../../output/html.ts';
import { exactTime } from '../../../output/time.ts';

const COLOURS: Readonly<Record<string, string>> = {
  COMPLETED: '#1a7f4b',
  SENT: '#2f6fb3',
  IN_PROGRESS: '#7a5bb8',
  DRAFT: '#7d8590',
  DECLINED: '#c4501b',
  EXPIRED: '#a67c00',
  CANCELLED: '#5c636b',
};
const ROW = 30;

/** The summary as one page that needs nothing else: no script, no address, dark and light. */
export function summaryPage(summary: Summary, now: number): string {
  const statuses = Object.entries(summary.byStatus).sort(([, a], [, b]) => b - a);
  const { completion, needsAttention } = summary;
  const { count, medianMs, p90Ms } = completion;
  const times =
    medianMs === null || p90Ms === null
      ? ''
      : `<p>${counted(count, 'envelope')} completed: half within ${durationInWords(medianMs)}, nine of ten within ${durationInWords(p90Ms)}.</p>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Envelopes</title><style>
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:.35rem .8rem .35rem 0;border-bottom:1px solid #8884;overflow-wrap:anywhere}svg text{fill:currentColor;font:14px system-ui,sans-serif}
</style></head><body>
<h1>${counted(summary.total, 'envelope')}</h1><p>As of ${exactTime(new Date(now).toISOString())}</p>
${chart(statuses)}
${times}
${table('Declined', 'Declined', needsAttention.declined.envelopes, 'By')}
${table('Expiring soon', 'Expires', needsAttention.expiringSoon.envelopes)}
${table('Not opened', 'Sent', needsAttention.neverOpened.envelopes)}
${table('Forgotten drafts', 'Created', needsAttention.forgottenDrafts.envelopes)}
${table('Waiting longest', 'Since', summary.waitingLongest)}
${table('Stuck: the next signer was never asked', 'Since', summary.stuck)}
</body></html>
`;
}

function chart(statuses: readonly (readonly [string, number])[]): string {
  const most = Math.max(1, ...statuses.map(([, count]) => count));
  const rows = statuses.map(([status, count], index) => {
    const y = index * ROW;
    const width = Math.max(2, Math.round((count / most) * 420));
    return `<text x="0" y="${y + 20}">${htmlText(status)}</text><rect x="140" y="${y + 5}" width="${width}" height="20" rx="3" fill="${entryOf(COLOURS, status) ?? '#7d8590'}"/><text x="${150 + width}" y="${y + 20}">${grouped(count)}</text>`;
  });
  const label = statuses.map(([status, count]) => `${status} ${grouped(count)}`).join(', ');
  return `<svg role="img" aria-label="${htmlText(label)}" viewBox="0 0 640 ${statuses.length * ROW}" width="100%">${rows.join('')}</svg>`;
}

function table(title: string, when: string, list: readonly Standout[], people = 'Waits for'): string {
  if (list.length === 0) return '';
  const rows = list.map(
    ({ id, at, waitingFor, subject }) =>
      `<tr><td>${htmlText(id)}</td><td>${htmlText(exactTime(at))}</td><td>${htmlText(waitingFor.join(', '))}</td><td>${htmlText(subject ?? '')}</td></tr>`,
  );
  return `<h2>${title}</h2><table><tr><th>Envelope</th><th>${when}</th><th>${people}</th><th>Subject</th></tr>${rows.join('')}</table>`;
}
