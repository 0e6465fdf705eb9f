import { html } from 'hono/html';
import type { TemplateRecord } from '../model.ts';
import type { State } from '../service/store/state.ts';
import { uploadForm } from './editor.ts';
import { envelopeTable } from './envelopes.ts';
import { keySection } from './keys.ts';
import { postButton, table, time } from './layout.ts';

/** Envelopes on the first page; the others are a link away. */
const NEWEST = 10;
const HOUR_MS = 3_600_000;
/** What the buttons move the clock by, in ms. */
export const CLOCK_STEPS = new Map([
  ['1h', HOUR_MS],
  ['1d', 24 * HOUR_MS],
  ['7d', 7 * 24 * HOUR_MS],
  ['31d', 31 * 24 * HOUR_MS],
]);

/** How to use the sandbox, and what is in it. `form` is the token that forms of this page must carry. */
export function dashboard(records: State, facts: { origin: string; now: string; form: string }) {
  const newest = { start: 0, count: NEWEST, from: 'newest' } as const;
  const { items, total } = records.envelopePage(records.orgId, newest);
  const more = html`<p><a href="/envelopes">All ${total} envelopes</a></p>`;
  return html`<h1>The e-signature service, on this machine</h1>
    <p>Base URL <code>${facts.origin}/api/v1</code>. The API is described at <a href="/openapi.yaml">/openapi.yaml</a>.</p>
    <pre>esign envelopes create --template tmpl_nda --signer ada@example.com --send</pre>
    <div class="row clock">
      <span>The clock says ${time(facts.now)}.</span>
      ${[...CLOCK_STEPS.keys()].map((step) => postButton(`/clock/${step}`, `+${step}`, facts.form))}
    </div>
    <h2>Envelopes</h2>
    ${envelopeTable(items, 'None yet. Create one with the command above.')}
    ${total > NEWEST ? more : ''}
    <h2>Templates</h2>
    ${table(['Id', 'Name', 'Pages', 'Roles', 'State'], records.templatesOf(records.orgId).map(templateRow), 'None.')}
    ${uploadForm(facts.form)}
    <h2>API keys</h2>
    ${keySection([...records.keys.values()], facts.form)}`;
}

function templateRow(one: TemplateRecord): unknown[] {
  const { id, name, pageCount, roles, fields, active, upload } = one;
  const listing = active ? 'listed' : fields.length === 0 ? 'no fields yet' : 'not listed';
  const link = upload === undefined ? name : html`<a href="/templates/${id}">${name}</a>`;
  return [html`<code>${id}</code>`, link, pageCount, roles.join(', '), listing];
}
