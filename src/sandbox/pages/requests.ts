import { html } from 'hono/html';
import { command } from '../../kernel/text/shell-words.ts';
import type { KeyRecord } from '../model.ts';
import type { AuditRecord } from '../service/store/records.ts';
import { chip, copyable, empty, facts, number, type Paged, table, when } from './layout.ts';

type Keys = ReadonlyMap<string, KeyRecord>;

const NO_REQUESTS = empty('No requests yet', 'Send one:', 'esign envelopes list');

/** Returns the audit log (Authentication 9), newest first. The page's script adds new entries as they arrive. */
export function requestLog(page: Paged<AuditRecord>, keys: Keys) {
  const rows = page.shown.map((one) => [
    when(one.at),
    html`<a href="/requests/${one.id}" class="mono">${requestLine(one)}</a>`,
    statusChip(one.status),
    duration(one),
    keyName(one, keys),
  ]);
  return html`<h1>Requests</h1>
    <div data-live>
      ${table(['Time', 'Request', 'Status', 'Duration', 'Key'], rows, NO_REQUESTS)} ${page.links}
    </div>`;
}

/** Returns the page of a request, with the command that repeats it. */
export function requestPage(one: AuditRecord, keys: Keys) {
  const envelopeId = /\/envelopes\/([^/]+)/.exec(one.path ?? '')?.[1];
  const parameters = [...new URLSearchParams(one.query ?? '')];
  return html`<h1 class="mono">${requestLine(one)}</h1>
    <div class="card">
      ${facts({
        Status: statusChip(one.status),
        Time: when(one.at),
        Duration: duration(one),
        Key: keyName(one, keys),
        Envelope: envelopeId && html`<a href="/envelopes/${envelopeId}"><code>${envelopeId}</code></a>`,
        Parameters:
          parameters.length === 0
            ? ''
            : parameters.map(([name, value]) => html`<div><code>${name}</code> ${value}</div>`),
        ID: html`<code>${one.id}</code>`,
      })}
    </div>
    ${one.method === 'GET' ? html`<h2>Send it again</h2>${copyable(command('api', requestTarget(one).replace(/^\/api\/v1/, '')))}` : ''}
    <p><a href="/requests">All requests</a></p>`;
}

function requestTarget({ path, query }: AuditRecord): string {
  return `${path ?? ''}${query ? `?${query}` : ''}`;
}

function requestLine(one: AuditRecord): string {
  return one.path === null ? one.action : `${one.method ?? ''} ${requestTarget(one)}`;
}

function statusChip(status: number | null) {
  if (status === null) return '';
  return chip(String(status), status < 400 ? 'good' : status < 500 ? 'warn' : 'bad');
}

function duration({ durationMs }: AuditRecord): string {
  return durationMs === undefined ? '' : `${number(durationMs)} ms`;
}

function keyName({ keyId }: AuditRecord, keys: Keys): string {
  return keyId === null ? 'none' : (keys.get(keyId)?.name ?? keyId);
}
