import { createHash } from 'node:crypto';
import type { State } from './state.ts';

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1d2433}
h1{margin-bottom:0}table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #d8dde6}
code,pre{background:#f1f3f7;border-radius:4px;padding:.1rem .3rem}pre{padding:.8rem;overflow:auto}.quiet{color:#5a6478}`;

/** Nothing but this page's own style may load or run. */
export const HOME_CSP = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const SHOWN = 20;

/** The front page: what this is, how to use it, the last envelopes and mails. Links to sign are left out. */
export function homePage(state: State, origin: string, now: string): string {
  const envelopes = state.envelopesOf(state.orgId).slice(0, SHOWN);
  const mails = state.mails.slice(-SHOWN).toReversed();
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>esign sandbox</title><style>${STYLE}</style></head><body>
<h1>esign sandbox</h1>
<p class="quiet">An e-signature service on this machine, for development. Nothing is mailed and nothing is binding. Its clock says ${escapeHtml(now)}.</p>
<p>Base URL: <code>${escapeHtml(origin)}/api/v1</code></p>
<pre>curl -H "Authorization: Bearer $ESIGN_API_KEY" ${escapeHtml(origin)}/api/v1/esign/templates</pre>
<h2>Last envelopes</h2>
${table(
  ['Created', 'Envelope', 'Status', 'Subject', 'Signers'],
  envelopes.map((one) => [
    one.createdAt,
    one.id,
    one.status,
    one.subject,
    one.signers.map((signer) => `${signer.name} (${signer.status})`).join(', '),
  ]),
)}
<h2>Last mails</h2>
${table(
  ['Sent', 'To', 'Subject'],
  mails.map((mail) => [mail.at, mail.to, mail.subject]),
)}
</body></html>
`;
}

function table(head: string[], rows: string[][]): string {
  if (rows.length === 0) return '<p class="quiet">None yet.</p>';
  const cells = (tag: string, texts: string[]) =>
    `<tr>${texts.map((text) => `<${tag}>${escapeHtml(text)}</${tag}>`).join('')}</tr>`;
  return `<table>${cells('th', head)}${rows.map((row) => cells('td', row)).join('\n')}</table>`;
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char).replaceAll('\0', '\ufffd');
}
