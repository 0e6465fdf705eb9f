import { expect, it } from 'vitest';
import { renderFile, renderVerified } from '../../src/commands/documents/download/view.ts';
import type { FileResult } from '../../src/documents/download/file.ts';
import type { JudgedSeal } from '../../src/documents/seal/judge.ts';
import { processTerminal } from '../../src/output/terminal.ts';

const narrow = { ...processTerminal({}, { NO_COLOR: '1' }), outIsTty: true, columns: 80 };
const seal: JudgedSeal = {
  state: 'intact',
  coverage: 'whole',
  addedBytes: null,
  subject: 'CN=esign sandbox (test only)',
  issuer: 'CN=esign sandbox (test only)',
  fingerprint: 'a'.repeat(64),
  time: '2026-11-22T22:45:05.000Z',
  sealedBytes: 100,
  others: [],
  reason: null,
  trust: 'unknown',
};
const path = 'env_10dbd8750c6b7d9c2e23.signed.pdf';
const file: FileResult = {
  envelopeId: 'env_10dbd8750c6b7d9c2e23',
  what: 'signed',
  key: 'signed.pdf',
  path,
  bytes: 61_644,
  sha256: 'b'.repeat(64),
  status: 'downloaded',
  error: null,
};

it.each([
  ['a download', renderFile(file, narrow, seal)],
  ['a check', renderVerified({ list: 'unlisted', path, sha256: file.sha256, seal, error: null }, narrow)],
])('puts the facts of %s below the file if they do not fit next to it', (_, text) => {
  const [first, ...rest] = text.trimEnd().split('\n');
  expect(first).toMatch(/^✓ .*\.pdf/);
  expect(rest.join(' ')).toContain('sealed by esign sandbox');
  for (const line of rest) expect(line).toMatch(/^ {2}\S/);
  for (const line of [first, ...rest]) expect(line?.length).toBeLessThanOrEqual(80);
});
