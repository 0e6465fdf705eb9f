import { execFileSync } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { Home, jsonLines, type LongRunning } from '../support/cli.ts';
import { needs } from '../support/tools.ts';

const home = new Home();
const SECRET = 'canarysecret-0123456789abcdef';
const SUBJECT = 'Lease of <script>alert(1)</script> & "sons"\u202e';
let apiKey: string;
let baseUrl: string;
let bucketSecret: string;
let hook: string;
let listen: LongRunning;

const esign = (words: string) => home.run(words.split(' '));
const read = (...path: string[]) => readFile(home.path(...path), 'utf8');

beforeAll(async () => {
  const ready = await home.background('sandbox start --data data --port 0 --json'.split(' ')).object();
  [apiKey, baseUrl] = [String(ready.apiKey), String(ready.baseUrl)];
  bucketSecret = String(ready.secretAccessKey);
  await writeFile(home.path('secret'), SECRET);
  listen = home.background('listen --port 0 --secret-file secret --json'.split(' '));
  hook = String((await listen.object()).url);
});

async function sent(more: readonly string[] = []): Promise<string> {
  const words = `envelopes create --template tmpl_nda --signer ada@b.example --webhook-url ${hook} --webhook-secret-file secret --send`;
  const { id } = await home.object([...words.split(' '), ...more]);
  await received('envelope.sent');
  return String(id);
}

async function received(event: string): Promise<void> {
  for (;;) if ((await listen.object()).event === event) return;
}

async function bytesOf(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(home.path(folder))).sort();
  const hashes = await Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(home.path(folder, name));
      return [name, createHash('sha256').update(bytes).digest('hex')] as const;
    }),
  );
  return Object.fromEntries(hashes);
}

describe('the evidence of a completed envelope', () => {
  let id: string;
  beforeAll(async () => {
    id = await sent(['--subject', SUBJECT, '--metadata', 'deal=42']);
    await esign(`envelopes remind ${id}`);
    await esign(`sandbox sign ${id}`);
    await received('envelope.completed');
    const { code, stderr } = await esign(`envelopes evidence ${id} --dir all`);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/3 \w+, 4 webhooks, 1 reminder/)]);
  });

  it('is collected in one folder, with the verdicts', async () => {
    const documents = ['certificate', 'document', 'signed'].map((what) => `${id}.${what}.pdf`);
    const others = [
      'envelope.json',
      'evidence.html',
      'log.jsonl',
      'documents.json',
      'reminders.jsonl',
      'webhooks.jsonl',
    ];
    expect(Object.keys(await bytesOf('all'))).toEqual(['SHA256SUMS', ...documents, ...others].sort());
    expect(parseJson(await read('all', 'envelope.json'))).toEqual(await home.json`envelopes get ${id}`);
    expect(parseJson(await read('all', 'documents.json'))).toMatchObject([
      {
        what: 'signed',
        name: `${id}.signed.pdf`,
        seal: { state: 'intact', coverage: 'whole', trust: 'pinned' },
      },
      { what: 'certificate', seal: { state: 'intact', coverage: 'whole' }, error: null },
      { what: 'document', seal: { state: 'unsigned' }, error: null },
    ]);
    expect(jsonLines(await read('all', 'reminders.jsonl'))).toMatchObject([{ signer: null }]);
  });

  it('contains the webhooks byte for byte, so that anyone with the secret can verify their signatures', async () => {
    const webhooks = jsonLines(await read('all', 'webhooks.jsonl')).filter(isRecord);
    const events = ['envelope.sent', 'envelope.viewed', 'envelope.signed', 'envelope.completed'];
    expect(webhooks.map(({ event }) => event)).toEqual(events);
    for (const { bodyBase64, headers, verified } of webhooks) {
      const body = Buffer.from(String(bodyBase64), 'base64');
      const signature = createHmac('sha256', SECRET).update(body).digest('hex');
      expect(verified).toBe(true);
      expect(headers).toContainEqual(['X-Service-Signature', signature]);
    }
  });

  it('can be verified without esign', needs('sha256sum', 'pdfsig'), async () => {
    const cwd = home.path('all');
    execFileSync('sha256sum', ['--strict', '-c', 'SHA256SUMS'], { cwd });
    const said = execFileSync('pdfsig', ['-nocert', `${id}.signed.pdf`], { cwd }).toString();
    expect(said).toContain('Signature is Valid');
    expect(said).toContain('Total document signed');
  });

  it('has a page in which untrusted text is never executed', async () => {
    const page = await read('all', 'evidence.html');
    expect(page).toContain(
      'Lease of &lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;sons&quot;&lt;202E&gt;',
    );
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(/<script|\u202e|href=|src=/);
    for (const { sha256 } of jsonLines(await read('all', 'webhooks.jsonl')).filter(isRecord))
      expect(page).toContain(String(sha256));
  });

  it('has a page that first shows who signed and when, and the source of that', async () => {
    const page = await read('all', 'evidence.html');
    const [first = ''] = /(?<=<div class="verdict good"><p>)[^<]*/.exec(page) ?? [];
    expect(first).toMatch(/ada@b\.example\)? signed on \d{4}-/);
    for (const fact of [baseUrl, 'Collected', 'esign 0.']) expect(page).toContain(fact);
  });

  it('contains no refused webhook', async () => {
    const body = JSON.stringify({
      event: 'envelope.forged',
      timestamp: new Date().toISOString(),
      data: { envelopeId: id, status: 'COMPLETED' },
    });
    const headers = { 'content-type': 'application/json', 'x-service-signature': 'ab'.repeat(32) };
    expect((await fetch(hook, { method: 'POST', headers, body })).status).toBe(401);
    expect((await esign(`envelopes evidence ${id} --dir refused`)).code).toBe(0);
    expect(await read('refused', 'webhooks.jsonl')).not.toContain('forged');
  });

  it('is written only into a new or empty folder', async () => {
    const before = await bytesOf('all');
    await mkdir(home.path('used'));
    await writeFile(home.path('used', 'mine.txt'), 'mine');
    for (const dir of ['all', 'used']) {
      const { code, stderr } = await esign(`envelopes evidence ${id} --dir ${dir}`);
      expect([code, stderr]).toEqual([2, expect.stringContaining('is not empty')]);
    }
    expect([await bytesOf('all'), await readdir(home.path('used'))]).toEqual([before, ['mine.txt']]);
    await mkdir(home.path('empty'));
    expect((await esign(`envelopes evidence ${id} --dir empty`)).code).toBe(0);
  });

  it('requires a bucket', async () => {
    const env = { ESIGN_BASE_URL: baseUrl, ESIGN_API_KEY: apiKey };
    const { code } = await home.run(`envelopes evidence ${id} --dir none`.split(' '), { env });
    expect([code, existsSync(home.path('none'))]).toEqual([9, false]);
  });

  it("is refused in a folder without a name, and in one that can't be created", async () => {
    const { code, stderr } = await home.run`envelopes evidence ${id} --dir ${''}`;
    expect([code, stderr]).toEqual([2, expect.stringContaining('--dir is empty')]);
    await writeFile(home.path('file'), '');
    const { code: second, stderr: why } = await esign(`envelopes evidence ${id} --dir file`);
    expect([second, why]).toEqual([9, expect.stringContaining('is not a folder')]);
  });
});

describe('the evidence of an envelope that is not completed', () => {
  it('contains the available parts, and reports the missing ones', async () => {
    const id = await sent();
    const { code, stdout, stderr } = await esign(`envelopes evidence ${id} --dir open`);
    expect(code).toBe(0);
    expect(stdout).toContain(join('open', `${id}.document.pdf`));
    expect(stderr).toContain(`${id} is SENT: `);
    expect(await read('open', 'evidence.html')).toContain(`${id} is SENT: `);
  });

  it('reports that a declined envelope has no signed documents', async () => {
    const id = await sent();
    await home.run`sandbox decline ${id} --reason 'too dear'`;
    const found = await home.object(`envelopes evidence ${id} --dir declined`.split(' '));
    expect(found).toMatchObject({
      status: 'DECLINED',
      missing: [
        { what: 'signed', why: expect.stringContaining('never') as unknown },
        { what: 'certificate' },
      ],
    });
    expect(await read('declined', 'evidence.html')).toContain('declined: too dear');
  });
});

describe('secrets', () => {
  it('are never in the folder, wherever they occur', async () => {
    const id = await sent(['--metadata', `key=${apiKey}`, '--metadata', `hook=${SECRET}`]);
    await esign(`sandbox sign ${id}`);
    await received('envelope.completed');
    const key = String((await home.object`envelopes get ${id}`).signedDocumentStorageKey);
    const { url } = await home.object`documents link ${key}`;
    const signature = /X-Amz-Signature=([0-9a-f]+)/.exec(String(url))?.[1] ?? 'none';
    const note = { url, inner: `https://b.example/?to=${encodeURIComponent(String(url))}`, bucketSecret };
    const data = { envelopeId: id, status: 'COMPLETED', webhookSecret: SECRET, note };
    const plain = JSON.stringify({ event: 'envelope.viewed', timestamp: '2026-03-01T10:20:30.000Z', data });
    // As some languages serialize JSON.
    for (const body of [plain, plain.replaceAll('&', String.raw`\u0026`)]) {
      const headers = {
        'content-type': 'application/json',
        'x-service-signature': createHmac('sha256', SECRET).update(body).digest('hex'),
        authorization: `Bearer ${apiKey}`,
        cookie: `session=${SECRET}`,
        referer: `https://b.example/?key=${apiKey}`,
        'x-anything': SECRET,
        'user-agent': 'clears the screen \u009b2J',
      };
      expect((await fetch(hook, { method: 'POST', headers, body })).status).toBe(200);
    }
    const env = { ESIGN_WEBHOOK_SECRET: SECRET };
    const { code } = await home.run(`envelopes evidence ${id} --dir canary`.split(' '), { env });
    expect(code).toBe(0);
    const kept = jsonLines(await read('canary', 'webhooks.jsonl')).filter(isRecord);
    expect(kept.filter(({ bodyBase64 }) => bodyBase64 === null)).toHaveLength(2);
    // People read these files on a terminal.
    expect(await read('canary', 'webhooks.jsonl')).toContain(String.raw`clears the screen \u009b2J`);
    const bodies = kept.map(({ bodyBase64 }) => Buffer.from(String(bodyBase64 ?? ''), 'base64').toString());
    const names = await readdir(home.path('canary'));
    const texts = await Promise.all(names.map((name) => readFile(home.path('canary', name), 'latin1')));
    for (const text of [...texts, ...bodies])
      for (const secret of [apiKey, SECRET, bucketSecret, signature]) expect(text).not.toContain(secret);
  });
});
