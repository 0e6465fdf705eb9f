import { html } from 'hono/html';
import { SCOPES } from '../../kernel/vocabulary.ts';
import type { DeliveryRecord, EnvelopeRecord, KeyRecord, MailRecord, TemplateRecord } from '../model.ts';
import type { State } from '../service/store/state.ts';
import { uploadForm } from './editor.ts';
import { state, table, time, when } from './layout.ts';

const SHOWN = 50;

/** What is in the sandbox, newest first, and how to use it. `form` is the token that forms of this page must carry. */
export function dashboard(records: State, facts: { origin: string; now: string; form: string }) {
  const envelopes = records.envelopesOf(records.orgId).slice(0, SHOWN);
  const deliveries = [...records.deliveries.values()].slice(-SHOWN).toReversed();
  return html`<h1>The e-signature service, on this machine</h1>
    <p>
      Base URL <code>${facts.origin}/api/v1</code>. The clock of the sandbox says ${time(facts.now)}. The API is described
      at <a href="/openapi.yaml">/openapi.yaml</a>.
    </p>
    <pre>esign envelopes create --template tmpl_nda --signer ada@example.com --send</pre>
    <h2>Envelopes</h2>
    ${table(['Created', 'Envelope', 'Status', 'Subject', 'Signers'], envelopes.map(envelopeRow), 'None yet. Create one with the command above.')}
    <h2>Templates</h2>
    ${table(['Id', 'Name', 'Pages', 'Roles', 'State'], records.templatesOf(records.orgId).map(templateRow), 'None.')}
    ${uploadForm(facts.form)}
    <h2>Webhooks</h2>
    ${table(
      ['Created', 'Event', 'Envelope', 'State', 'Tries', ''],
      deliveries.map((one) => deliveryRow(one, facts.form)),
      'None sent. Create an envelope with --webhook-url.',
    )}
    <h2>API keys</h2>
    ${table(
      ['Name', 'Key', 'Permissions', 'Created', 'Last used', 'Expires', ''],
      [...records.keys.values()].map((one) => keyRow(one, facts.form)),
      'None.',
    )}
    ${newKeyForm(facts.form)}`;
}

function envelopeRow(one: EnvelopeRecord): unknown[] {
  const signers = one.signers.map((signer) => html`<div>${signer.name} ${state(signer.status)}</div>`);
  return [when(one.createdAt), html`<code>${one.id}</code>`, state(one.status), one.subject, signers];
}

function templateRow(one: TemplateRecord): unknown[] {
  const { id, name, pageCount, roles, fields, active, upload } = one;
  const standing = active ? 'listed' : fields.length === 0 ? 'no fields yet' : 'not listed';
  const link = upload === undefined ? name : html`<a href="/templates/${id}">${name}</a>`;
  return [html`<code>${id}</code>`, link, pageCount, roles.join(', '), standing];
}

function deliveryRow(one: DeliveryRecord, token: string): unknown[] {
  const last = one.attempts.at(-1);
  const tries = `${one.attempts.length}${last ? ` (${last.status ?? last.error ?? ''})` : ''}`;
  return [
    when(one.createdAt),
    one.event,
    html`<code>${one.envelopeId}</code>`,
    state(one.state),
    tries,
    action(`/deliveries/${one.id}/replay`, 'Replay', token),
  ];
}

function keyRow(one: KeyRecord, token: string): unknown[] {
  const end = one.revokedAt === null ? action(`/keys/${one.id}/revoke`, 'Revoke', token) : 'revoked';
  const expires = one.expiresAt === null ? 'never' : when(one.expiresAt);
  return [
    one.name,
    html`<code>${one.prefix}…</code>`,
    one.scopes.join(', '),
    when(one.createdAt),
    when(one.lastUsedAt) || 'never',
    expires,
    end,
  ];
}

function action(path: string, label: string, token: string) {
  return html`<form method="post" action="${path}">
    <input type="hidden" name="form" value="${token}" /><button class="plain small">${label}</button>
  </form>`;
}

/** Every mail the service would have sent. */
export function mailbox(mails: readonly MailRecord[], to: string) {
  const shown = mails
    .filter((mail) => mail.to.toLowerCase().includes(to.toLowerCase()))
    .toReversed()
    .slice(0, 200);
  const rows = shown.map((mail) => [
    when(mail.at),
    mail.to,
    html`<a href="/mailbox/${mail.id}">${mail.subject}</a>`,
  ]);
  return html`<h1>Mailbox</h1>
    <form method="get" class="field" role="search">
      <label for="to">Mails to</label> <input id="to" name="to" value="${to}" autocomplete="off" />
      <button class="small">Show</button>
    </form>
    ${table(['Sent', 'To', 'Subject'], rows, 'No mails. Signers are mailed when an envelope is sent.')}`;
}

/** One mail; a signing link of this sandbox can be followed. */
export function mailPage(mail: MailRecord, origin: string) {
  const link = mail.text.split(/\s+/).find((word) => word.startsWith(`${origin}/sign/`));
  return html`<h1>${mail.subject}</h1>
    <p class="quiet">To ${mail.to}, ${time(mail.at)}</p>
    <div class="card mailtext">${mail.text}</div>
    ${link === undefined ? '' : html`<p><a class="button" href="${link.slice(origin.length)}">Open and sign</a></p>`}`;
}

function newKeyForm(token: string) {
  return html`<details class="card">
    <summary>Create a key</summary>
    <form method="post" action="/keys">
      <input type="hidden" name="form" value="${token}" />
      <div class="field"><label for="name">Name</label> <input id="name" name="name" required maxlength="200" /></div>
      ${SCOPES.map(
        (scope) => html`<div class="field check">
          <input type="checkbox" id="${scope}" name="scopes" value="${scope}" checked /><label for="${scope}">${scope}</label>
        </div>`,
      )}
      <div class="field"><label for="expires">Expires (never, when empty)</label> <input type="date" id="expires" name="expires" /></div>
      <button>Create</button>
    </form>
  </details>`;
}

/** A new key: the only time it is shown. */
export function newKeyPage(key: string, record: KeyRecord) {
  return html`<h1>The key ${record.name}</h1>
    <p>Copy it now: it is shown this once and cannot be retrieved later.</p>
    <pre>${key}</pre>
    <p>It may ${record.scopes.join(' and ')}. <a href="/">Back to the dashboard</a></p>`;
}
