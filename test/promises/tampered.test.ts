import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { TAMPERINGS, type Tampering } from '../../src/sandbox/model.ts';
import { Home, jsonLines } from '../support/cli.ts';

const home = new Home();
let baseUrl: string;
let apiKey: string;
const planted = new Map<Tampering, string>();
/** Exit codes of downloads, each followed by the pins, starting without a pin. */
const before: unknown[] = [];

beforeAll(async () => {
  const ready = await home.background('sandbox start --data data --port 0 --json'.split(' ')).object();
  [baseUrl, apiKey] = [String(ready.baseUrl), String(ready.apiKey)];
  for (const how of ['appendedBytes', 'otherSeal', 'strippedSeal'] as const) {
    await post('/__sandbox/faults', { tamperedPaper: { how, match: 'signed' } });
    const words = `envelopes download ${await signed()} --dir before`;
    before.push((await home.run(words.split(' '))).code, await home.json`documents pins`);
  }
  await post('/__sandbox/faults', {});
  // The first documents that belong together pin their seal.
  expect((await home.run`envelopes download ${await signed()} --dir clean`).code).toBe(0);
  for (const how of TAMPERINGS) {
    await post('/__sandbox/faults', { tamperedPaper: { how, match: 'signed' } });
    planted.set(how, await signed());
    await struck();
  }
});
afterAll(() => home.close());

/** Documents are created after the response to the signature. */
async function struck(): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}` };
  for (;;) {
    const reply = await fetch(new URL('/__sandbox/faults', baseUrl), { headers });
    if (/"tamperedPaper":\s*1\b/.test(await reply.text())) return;
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

const CODES: Record<Tampering, string> = {
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
  strippedSeal: 'SEAL_MISSING',
};

it('warns about tampered documents in a download, and fails them in verify', async () => {
  const ids = [...planted.values()];
  const fetched = await home.run`envelopes download ${ids} --dir downloads --what signed`;
  expect([fetched.code, fetched.stderr]).toEqual([9, expect.stringContaining('failed the seal check')]);
  const { code, stdout } = await home.run('documents verify downloads --json'.split(' '));
  const lines = jsonLines(stdout).filter(isRecord);
  const found = new Map(lines.map(({ path, error }) => [path, error]));
  const codes = TAMPERINGS.map((how) => {
    const error = found.get(join('downloads', `${planted.get(how)}.signed.pdf`));
    return [how, isRecord(error) ? error.code : error];
  });
  expect([code, Object.fromEntries(codes)]).toEqual([9, CODES]);
  const warned = TAMPERINGS.filter((how) => fetched.stderr.includes(`${planted.get(how)}.signed.pdf:`));
  expect(warned).toEqual(TAMPERINGS);
});

it('pins nothing for tampered documents, even if nothing is pinned yet', () => {
  expect(before).toEqual([9, [], 0, [], 0, []]);
});

it("reports a seal's problem in the JSON of a download, and keeps the file, with any name", async () => {
  for (const how of ['strippedSeal', 'otherSeal', 'appendedBytes'] as const) {
    const words = `envelopes download ${planted.get(how)} --what signed -o ${how} --json`.split(' ');
    const { code, stdout, stderr } = await home.run(words);
    expect([how, code, jsonLines(stdout), jsonLines(stderr)]).toMatchObject([
      how,
      9,
      [{ path: how, error: null, problem: { code: CODES[how] } }],
      [{ error: { code: 'STORAGE_CORRUPT', exitCode: 9 } }],
    ]);
    expect((await readFile(home.path(how))).subarray(0, 5).toString()).toBe('%PDF-');
  }
});

it('reports a tampered document in the evidence, and exits with 9', async () => {
  const words = ['envelopes', 'evidence', planted.get('appendedBytes') ?? '', '--dir', 'evidence'];
  const { code, stderr } = await home.run(words);
  expect([code, stderr]).toEqual([9, expect.stringContaining("Don't rely on")]);
});
