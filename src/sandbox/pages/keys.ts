import { html } from 'hono/html';
import { SCOPES } from '../../kernel/vocabulary.ts';
import type { KeyRecord } from '../model.ts';
import { copyable, postButton, table, when } from './layout.ts';

/** Returns the page with the API keys and a form to create one. `form` is the token that posts must contain. */
export function keysPage(keys: readonly KeyRecord[], form: string) {
  const head = ['Name', 'Key', 'Scopes', 'Created', 'Last used', 'Expires', ''];
  return html`<h1>API keys</h1>
  ${table(
    head,
    keys.map((one) => row(one, form)),
    'No keys.',
  )}
  ${newKeyForm(form)}`;
}

function row(one: KeyRecord, form: string): unknown[] {
  return [
    one.name,
    html`<code>${one.prefix}…</code>`,
    one.scopes.join(', '),
    when(one.createdAt),
    one.lastUsedAt === null ? 'never' : when(one.lastUsedAt),
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
      <div class="field"><label for="expires">Expires (optional)</label> <input type="date" id="expires" name="expires" /></div>
      <button class="main">Create</button>
    </form>
  </details>`;
}

/** Returns the page for a new key, which is shown only once. */
export function newKeyPage(key: string, record: KeyRecord) {
  return html`<h1>${record.name}</h1>
    <p>Copy the key now. It is not shown again.</p>
    ${copyable(key)}
    <p>Scopes: ${record.scopes.join(', ')}</p>
    <p><a href="/keys">All API keys</a></p>`;
}
