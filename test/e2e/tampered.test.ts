import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { TAMPERINGS, type Tampering } from '../../src/sandbox/model.ts';
import { Home, jsonLines } from '../support/cli.ts';

const home = new Home();
let baseUrl: string;
let apiKey: string;
const planted = new Map<Tampering, string>();

beforeAll(async () => {
  const ready = await home.start('sandbox start --data data --port 0 --json'.split(' ')).object();
  [baseUrl, apiKey] = [String(ready.baseUrl), String(ready.apiKey)];
  // The first paper that is seen is pinned.
  expect((await home.run`envelopes download ${await signed()} --dir clean`).code).toBe(0);
  for (const how of TAMPERINGS) {
    await post('/__sandbox/faults', { tamperedPaper: { how, match: 'signed' } });
    planted.set(how, await signed());
    await struck();
  }
});
afterAll(() => home.close());

/** Papers are made after the signature is answered. */
async function struck(): Promise<void> {
  for (;;) {
    const { hits } = await home.object`sandbox faults`;
    if (isRecord(hits) && hits.tamperedPaper === 1) return;
  }
}

async function post(path: string, body: unknown): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const reply = await fetch(new URL(path, baseUrl), { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await reply.text();
  const value = parseJson(text);
  if (!reply.ok || !isRecord(value)) throw new Error(`${path}: ${reply.status} ${text}`);
  return value;
}

/** An envelope that everybody has signed. */
async function signed(): Promise<string> {
  const signers = [{ email: 'ada@b.example', name: 'Ada' }];
  const draft = { templateId: 'tmpl_nda', signers, sendImmediately: true };
  const { data } = await post('/api/v1/esign/envelopes', draft);
  const id = isRecord(data) ? String(data.id) : '';
  await post(`/__sandbox/envelopes/${id}/sign`, {});
  return id;
}

const CODES: Record<Tampering, string | null> = {
  changedText: 'SEAL_CHANGED',
  changedSignature: 'SEAL_CHANGED',
  changedCertificate: 'SEAL_CHANGED',
  changedAttributes: 'SEAL_CHANGED',
  cutShort: 'SEAL_UNREADABLE',
  appendedBytes: 'SEAL_EXTENDED',
  replacedPage: 'SEAL_EXTENDED',
  addedNote: 'SEAL_EXTENDED',
  addedAppearance: 'SEAL_EXTENDED',
  newCatalog: 'SEAL_EXTENDED',
  fakeValidationData: 'SEAL_EXTENDED',
  droppedSignature: 'SEAL_EXTENDED',
  emptiedField: 'SEAL_EXTENDED',
  wrappedSignature: 'SEAL_CHANGED',
  shiftedByteRange: 'SEAL_UNREADABLE',
  emptyByteRange: 'SEAL_UNREADABLE',
  noByteRange: 'SEAL_UNREADABLE',
  repeatedByteRange: 'SEAL_UNREADABLE',
  emptyContents: 'SEAL_UNREADABLE',
  zeroContents: 'SEAL_UNREADABLE',
  nullContents: 'SEAL_UNREADABLE',
  trailingBytes: 'SEAL_UNREADABLE',
  foreignSignature: 'SEAL_CHANGED',
  otherSeal: 'SEAL_OTHER',
  strippedSeal: null,
};

it('papers that the sandbox has tampered with are warned of by the download and refused by verify', async () => {
  const ids = [...planted.values()];
  const fetched = await home.run`envelopes download ${ids} --dir papers --what signed`;
  expect(fetched.code).toBe(0);
  const { code, stdout } = await home.run('documents verify papers --json'.split(' '));
  const lines = jsonLines(stdout).filter(isRecord);
  const found = new Map(lines.map(({ path, error }) => [path, error]));
  const codes = TAMPERINGS.map((how) => {
    const error = found.get(join('papers', `${planted.get(how)}.signed.pdf`));
    return [how, isRecord(error) ? error.code : error];
  });
  expect([code, Object.fromEntries(codes)]).toEqual([9, CODES]);
  const warned = TAMPERINGS.filter((how) => fetched.stderr.includes(`${planted.get(how)}.signed.pdf:`));
  expect(warned).toEqual(TAMPERINGS.filter((how) => CODES[how] !== null));
});

it('a stripped seal is seen where one is required', async () => {
  const path = `papers/${planted.get('strippedSeal')}.signed.pdf`;
  const { code, stderr } = await home.run`documents verify ${path} --require-seal`;
  expect([code, stderr]).toEqual([9, expect.stringContaining('has no seal')]);
});

it('the evidence of a tampered paper says so, and ends with 9', async () => {
  const words = ['envelopes', 'evidence', planted.get('appendedBytes') ?? '', '--dir', 'evidence'];
  const { code, stderr } = await home.run(words);
  expect([code, stderr]).toEqual([9, expect.stringContaining('must not be believed')]);
});
