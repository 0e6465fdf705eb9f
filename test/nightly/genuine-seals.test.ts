import { afterAll, beforeAll, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { Home, jsonLines } from '../support/cli.ts';

/** Two documents each. */
const ENVELOPES = Number(process.env.SEAL_ENVELOPES || 500);
const AT_ONCE = 8;
const PEOPLE = ['Ada Lovelace', 'Łukasz Żółć', '李小龍', 'محمد علي', 'अनीता', "O'Brien (née \\) >>"];
const TEMPLATES = [
  ['tmpl_nda', 1],
  ['tmpl_lease', 2],
  ['tmpl_employment', 3],
  ['tmpl_intake', 1],
] as const;

const home = new Home();
let baseUrl: string;
let apiKey: string;

beforeAll(async () => {
  const ready = await home.start('sandbox start --data data --port 0 --json'.split(' ')).object();
  [baseUrl, apiKey] = [String(ready.baseUrl), String(ready.apiKey)];
});
afterAll(() => home.close());

async function post(path: string, body: unknown): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const reply = await fetch(new URL(path, baseUrl), { method: 'POST', headers, body: JSON.stringify(body) });
  const value = parseJson(await reply.text());
  if (!reply.ok || !isRecord(value)) throw new Error(`${path}: ${reply.status}`);
  return value;
}

/** An envelope that everybody has signed. */
async function complete(index: number): Promise<void> {
  const [templateId, count] = TEMPLATES[index % TEMPLATES.length] ?? TEMPLATES[0];
  const signers = Array.from({ length: count }, (_, at) => ({
    email: `signer${index}.${at}@example.com`,
    name: `${PEOPLE[(index + at) % PEOPLE.length]} ${index}`,
  }));
  const draft = {
    templateId,
    signers,
    subject: `No ${index} %%EOF /ByteRange`,
    sendImmediately: true,
  };
  const { data } = await post('/api/v1/esign/envelopes', draft);
  const id = isRecord(data) ? String(data.id) : '';
  for (const { email } of signers) await post(`/__sandbox/envelopes/${id}/sign`, { signer: email });
}

it(`raises no false alarm for the documents of ${ENVELOPES} envelopes`, { timeout: 1_800_000 }, async () => {
  const next = Array.from({ length: ENVELOPES }, (_, index) => index).values();
  const work = async () => {
    for (const index of next) await complete(index);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const fetched = await home.run('envelopes download --all --dir downloads'.split(' '));
  expect([fetched.code, fetched.stderr]).toEqual([0, '']);
  const { code, stdout } = await home.run('documents verify downloads --require-seal --json'.split(' '));
  const files = jsonLines(stdout).filter(isRecord);
  const accepted = { state: 'intact', coverage: 'whole', trust: 'pinned', addedBytes: 0 };
  expect(files.filter(({ error }) => error !== null)).toEqual([]);
  expect(files.every(({ seal }) => isRecord(seal) && seal.state === 'intact')).toBe(true);
  for (const file of files) expect(file).toMatchObject({ list: 'ok', seal: accepted });
  expect([code, files.length]).toEqual([0, 2 * ENVELOPES]);
});
