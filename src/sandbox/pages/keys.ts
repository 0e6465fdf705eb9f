import { html } from 'hono/html';
import { SCOPES } from '../../kernel/vocabulary.ts';
import type { KeyRecord } from '../model.ts';
import { postButton, table, when } from './layout.ts';

/** The API keys, and a form for a new one. `form` is the token that posts must carry. */
export function keySection(keys: readonly KeyRecord[], form: string) {
  const head = ['Name', 'Key', 'Permissions', 'Created', 'Last used', 'Expires', ''];
  return html`${table(
    head,
    keys.map((one) => row(one, form)),
    'None.',
  )}
  ${newKeyForm(form)}`;
}

function row(one: KeyRecord, form: string): unknown[] {
  return [
    one.name,
    html`<code>${one.prefix}…</code>`,
    one.scopes.join(', '),
    when(one.createdAt),
    when(one.lastUsedAt) || 'never',
    one.expiresAt === null ? 'never' : when(one.expiresAt),
    one.revokedAt === null ? postButton(`/keys/${one.id}/revoke`, 'Revoke', form) : 'revoked',
  ];
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
