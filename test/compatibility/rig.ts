import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HttpRequest, RawResponse } from '../../src/api/http.ts';
import type { CompatibilityReport } from '../../src/compatibility/findings.ts';
import { choicesIn } from '../../src/compatibility/observed-points.ts';
import { readRecord } from '../../src/compatibility/record.ts';
import { CompatibilityRecorder } from '../../src/compatibility/recorder.ts';
import { reportOf } from '../../src/compatibility/report.ts';

export const HEADERS = {
  'content-type': 'application/json',
  'x-ratelimit-limit': '10000',
  'x-ratelimit-remaining': '9999',
  'x-ratelimit-reset': '1772359800',
};

/** A recorder with its file in a separate folder. */
export class Notes {
  readonly folder = mkdtempSync(join(tmpdir(), 'esign-compat-'));
  readonly path = join(this.folder, 'compatibility', 'record.json');
  readonly recorder: CompatibilityRecorder;

  constructor(now?: () => number) {
    this.recorder = new CompatibilityRecorder(this.path, now);
  }

  /** A response to a request, such as `GET /esign/envelopes`. */
  reply(
    line: string,
    body: unknown,
    reply: Partial<RawResponse> = {},
    request: Partial<HttpRequest> = {},
  ): void {
    const [method, path = ''] = line.split(' ');
    if (method !== 'GET' && method !== 'POST') throw new Error(`no method: ${line}`);
    const text = body === undefined ? '' : JSON.stringify(body);
    const { status = 200, headers = HEADERS } = reply;
    this.recorder.noteResponse({ method, path, ...request }, { status, headers, text }, body);
  }

  async report(): Promise<CompatibilityReport> {
    await this.recorder.write();
    const record = await readRecord(this.path);
    return reportOf(record === 'newer' ? new Map() : record);
  }

  async choices(): Promise<Record<string, string>> {
    await this.recorder.write();
    const record = await readRecord(this.path);
    return choicesIn(record === 'newer' ? new Map() : record);
  }

  close(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

export function signer(more: Record<string, unknown> = {}) {
  return {
    id: 'signer_1',
    email: 'ada@example.com',
    name: 'Ada',
    role: 'Tenant',
    order: 1,
    status: 'SENT',
    signedAt: null,
    declinedAt: null,
    declineReason: null,
    ...more,
  };
}

export function envelope(more: Record<string, unknown> = {}) {
  return {
    id: 'env_1',
    templateId: 'tmpl_1',
    templateName: 'Lease',
    status: 'SENT',
    signingOrder: 'PARALLEL',
    subject: 'Your lease',
    message: 'Please sign',
    signers: [signer()],
    metadata: {},
    webhookUrl: null,
    expiresAt: '2026-03-31T09:30:00.000Z',
    createdAt: '2026-03-01T09:30:00.000Z',
    sentAt: '2026-03-01T09:30:00.000Z',
    completedAt: null,
    documentStorageKey: 'esign/envelopes/org_1/env_1/document.pdf',
    signedDocumentStorageKey: null,
    certificateStorageKey: null,
    ...more,
  };
}

export function template(more: Record<string, unknown> = {}) {
  const field = { fieldId: 'f1', type: 'SIGNATURE', label: 'Signature', required: true, page: 1 };
  return {
    id: 'tmpl_1',
    name: 'Lease',
    description: 'A lease',
    pageCount: 1,
    fields: [field],
    createdAt: '2026-03-01T09:30:00.000Z',
    updatedAt: '2026-03-01T09:30:00.000Z',
    ...more,
  };
}

export function page(data: unknown[], more: Record<string, unknown> = {}) {
  return {
    data,
    meta: { pagination: { page: 1, pageSize: 100, total: data.length, totalPages: 1, ...more } },
  };
}
