import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { median } from './measure.js';

const MOST_US = 50;
const headers = {
  'content-type': 'application/json',
  'x-ratelimit-limit': '10000',
  'x-ratelimit-remaining': '9999',
  'x-ratelimit-reset': '4102444800',
};

/* Measures comparing a response of a known shape with the API document: a single envelope, and a page of 100. */
/** @returns {Promise<import('./measure.js').Row[]>} */
export async function benchCompat({ rounds = 2_000 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-compat-'));
  try {
    const outfile = join(folder, 'recorder.mjs');
    const entryPoints = [join(import.meta.dirname, '../../src/compatibility/recorder.ts')];
    await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm' });
    const { CompatibilityRecorder } = await import(outfile);
    const page = { data: Array.from({ length: 100 }, (_, index) => envelope(index)), meta };
    return [
      costOf(
        new CompatibilityRecorder(join(folder, 'a.json'), () => 0),
        'a response with an envelope',
        { data: envelope(1) },
        '/env_1',
        rounds,
      ),
      costOf(
        new CompatibilityRecorder(join(folder, 'b.json'), () => 0),
        'a page of 100 envelopes',
        page,
        '?page=1',
        rounds,
      ),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const meta = { pagination: { page: 1, pageSize: 100, total: 100_000, totalPages: 1_000 } };

function costOf(recorder, name, body, path, rounds) {
  const text = JSON.stringify(body);
  const request = { method: 'GET', path: `/esign/envelopes${path}` };
  const costs = [];
  for (let round = 0; round < rounds; round++) {
    const parsed = JSON.parse(text);
    const started = performance.now();
    recorder.noteResponse(request, { status: 200, headers, text }, parsed);
    costs.push(1_000 * (performance.now() - started));
  }
  const us = median(costs);
  return {
    name: `compat: ${name}`,
    value: `${us.toFixed(1)} µs`,
    asked: `<= ${MOST_US} µs`,
    good: us <= MOST_US,
  };
}

function envelope(index) {
  const at = '2026-03-01T09:30:00.000Z';
  const key = (name) => `esign/envelopes/org_1/env_${index}/${name}.pdf`;
  const signers = [1, 2].map((order) => ({
    id: `signer_${index}_${order}`,
    email: 'ada@example.com',
    name: 'Ada Lovelace',
    role: 'Tenant',
    order,
    status: 'SENT',
    signedAt: index % 3 === 0 ? at : null,
    declinedAt: null,
    declineReason: null,
  }));
  return {
    id: `env_${index}`,
    templateId: 'tmpl_lease',
    templateName: 'Lease',
    status: ['DRAFT', 'SENT', 'IN_PROGRESS', 'COMPLETED', 'CANCELLED'][index % 5],
    signingOrder: 'PARALLEL',
    subject: `Lease ${index}`,
    message: 'Please sign',
    signers,
    metadata: { customer: index },
    webhookUrl: null,
    expiresAt: at,
    createdAt: at,
    sentAt: index % 2 === 0 ? at : null,
    completedAt: null,
    documentStorageKey: key('document'),
    signedDocumentStorageKey: index % 4 === 0 ? key('signed') : null,
    certificateStorageKey: null,
  };
}
