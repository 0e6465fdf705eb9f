import { html } from 'hono/html';
import type { KeyRecord } from '../model.ts';
import type { AuditRecord } from '../service/store/records.ts';
import { table, when } from './layout.ts';
import type { Paged } from './paging.ts';

/** The audit log (Authentication 9), newest first. The page's script shows new entries as they come. */
export function requestLog(page: Paged<AuditRecord>, keys: ReadonlyMap<string, KeyRecord>) {
  const rows = page.shown.map((one) => [
    when(one.at),
    `${one.method ?? ''} ${one.path ?? one.action}`.trim(),
    one.status ?? '',
    one.keyId === null ? 'no key of ours' : (keys.get(one.keyId)?.name ?? ''),
  ]);
  return html`<h1>Requests</h1>
    <div data-live>${table(['Time', 'Request', 'Status', 'Key'], rows, 'None yet.')} ${page.links}</div>`;
}
