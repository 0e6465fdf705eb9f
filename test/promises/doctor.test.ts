import { chmod, mkdir, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, type Sandbox } from '../support/cli.ts';
import { fakeService, KEY } from '../support/fake-service.ts';
import { json } from '../support/server.ts';

const home = new Home({ AWS_EC2_METADATA_DISABLED: 'true' });
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await home.sandbox();
});

interface Page {
  code: number | null;
  ok: unknown;
  checks: Record<string, Record<string, unknown>>;
  text: string;
}

/** Runs the doctor with --json; returns its checks by name. */
async function examined(env: Record<string, string> = {}, args: string[] = [], where = home): Promise<Page> {
  const { code, stdout, stderr } = await where.run(argv`doctor --json ${args}`, { env });
  const page = parseJson(stdout);
  if (!isRecord(page) || !isList(page.checks)) throw new Error(`no page: ${stdout}${stderr}`);
  expect(Object.keys(page)).toEqual(['ok', 'checks']);
  const checks = page.checks.filter(isRecord);
  for (const check of checks) {
    expect(Object.keys(check)).toEqual(['name', 'status', 'message', 'fix']);
    if (check.status === 'failed') expect(check.fix).toMatch(/\S/);
  }
  const byName = Object.fromEntries(checks.map((check) => [String(check.name), check]));
  return { code, ok: page.ok, checks: byName, text: stdout + stderr };
}

/** Runs the doctor with a service that returns this. */
async function at(
  answer: (response: ServerResponse) => void,
  env: Record<string, string> = {},
  path = '/api/v1',
): Promise<Page> {
  const service = await fakeService((_, response) => answer(response));
  return examined({ ...service.env, ESIGN_BASE_URL: `${service.server.origin}${path}`, ...env });
}

const emptyList = (response: ServerResponse, headers: Record<string, string> = {}) =>
  json(response, 200, { data: [] }, headers);
const refusal = (status: number, code: string) => (response: ServerResponse) =>
  json(response, status, { error: { code, message: 'because' } });

describe('esign doctor', () => {
  it('finds nothing wrong with the sandbox', async () => {
    const page = await examined();
    expect([page.code, page.ok]).toEqual([0, true]);
    expect(Object.values(page.checks).map((check) => check.status)).toEqual(Array(17).fill('ok'));
    expect(page.checks.key?.message).toBe(`${sandbox.apiKey.slice(0, 8)}… (profile sandbox)`);
    expect(page.checks.scopes?.message).toMatch(/read: yes; write: not/);
    expect(page.checks['rate-limit']?.message).toMatch(/^[\d,]+ requests of 10,000 .* \d+ minutes/);
    expect(page.text).not.toContain(sandbox.apiKey);
    const words = await home.run`doctor`;
    expect(words).toMatchObject({ code: 0, stderr: '' });
    expect(words.stdout).toMatch(/^✓ Node[\s\S]*✓ Bucket .* files can be read\n\nNo problems found\.\n$/);
  });

  it('exits with 3 without a profile, and shows how to create one', async () => {
    const page = await examined({ ESIGN_CONFIG_DIR: home.path('empty') });
    expect(page).toMatchObject({ code: 3, ok: false });
    expect(page.checks['base-url']?.status).toBe('failed');
    expect(page.checks['base-url']?.fix).toMatch(/profiles add/);
  });

  it('exits with 3 if the key is refused', async () => {
    const page = await examined({ ESIGN_BASE_URL: sandbox.baseUrl, ESIGN_API_KEY: KEY });
    expect(page.code).toBe(3);
    expect(page.checks).toMatchObject({
      service: { status: 'ok' },
      'key-accepted': { status: 'failed' },
      scopes: { status: 'skipped' },
      bucket: { status: 'skipped' },
    });
    expect(page.text).not.toContain(KEY);
  });

  it('exits with 3 if the key may not read', async () => {
    const page = await at(refusal(403, 'FORBIDDEN'));
    expect(page.code).toBe(3);
    expect(page.checks).toMatchObject({ 'key-accepted': { status: 'ok' }, scopes: { status: 'failed' } });
  });

  it('exits with 8 if there is no API at the base URL, and suggests the likely one', async () => {
    const page = await at(refusal(404, 'NOT_FOUND'), {}, '/v2');
    expect([page.code, page.checks.service?.status]).toEqual([8, 'failed']);
    expect(page.checks.service?.fix).toMatch(/\/api\/v1/);
  });

  it('exits with 8 if nothing or another program is listening', async () => {
    const nobody = await examined({ ESIGN_BASE_URL: 'http://127.0.0.1:9/api/v1', ESIGN_API_KEY: KEY });
    expect([nobody.code, nobody.checks.service?.status]).toEqual([8, 'failed']);
    for (const name of ['key-accepted', 'scopes', 'clock', 'rate-limit'])
      expect(nobody.checks[name]?.status).toBe('skipped');
    const stranger = await at((response) => {
      response.writeHead(200, { date: new Date().toUTCString() }).end('<html>Sign in</html>');
    });
    expect([stranger.code, stranger.checks.service?.status]).toEqual([8, 'failed']);
    expect(stranger.checks.clock?.status).toBe('ok');
  });

  it('exits with 7 if the rate window is used up, and warns if it nearly is', async () => {
    const reset = { 'X-RateLimit-Reset': String(Math.ceil(Date.now() / 1_000) + 900) };
    const used = await at((response) =>
      json(response, 429, { error: { code: 'RATE_LIMITED', message: 'too many' } }, reset),
    );
    expect([used.code, used.checks['rate-limit']?.status]).toEqual([7, 'failed']);
    const nearly = await at((response) =>
      emptyList(response, { 'X-RateLimit-Limit': '100', 'X-RateLimit-Remaining': '9', ...reset }),
    );
    expect([nearly.code, nearly.ok, nearly.checks['rate-limit']?.status]).toEqual([0, true, 'warning']);
  });

  it('reports a wrong clock, and how far it is off', async () => {
    const off = (minutes: number) =>
      at((response) => emptyList(response, { date: new Date(Date.now() + minutes * 60_000).toUTCString() }));
    expect((await off(5)).checks.clock).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('5 minutes behind') as unknown,
    });
    const wide = await off(-40);
    expect([wide.code, wide.checks.clock?.status]).toEqual([2, 'failed']);
    expect(wide.checks.clock?.message).toMatch(/40 minutes ahead/);
  });

  it('exits with 2 if the profiles file is readable by others or invalid', async () => {
    const folder = home.path('loose');
    await mkdir(folder, { mode: 0o700 });
    const file = home.path('loose', 'profiles.json');
    await writeFile(file, '{"profiles":{}}');
    await chmod(file, 0o644);
    const loose = await examined({
      ESIGN_CONFIG_DIR: folder,
      ESIGN_BASE_URL: sandbox.baseUrl,
      ESIGN_API_KEY: sandbox.apiKey,
    });
    expect([loose.code, loose.checks.config?.status]).toEqual([2, 'failed']);
    expect(loose.checks.config?.fix).toContain(`chmod 600 '${file}'`);
    await chmod(file, 0o600);
    await writeFile(file, '{"profiles":');
    const broken = await examined({ ESIGN_CONFIG_DIR: folder });
    expect([broken.code, broken.checks.profile?.status, broken.checks.service?.status]).toEqual([
      2,
      'failed',
      'skipped',
    ]);
  });

  it('accepts the moved clock of a sandbox, also of one that only variables name', async () => {
    const own = new Home();
    const { baseUrl, apiKey } = await own.sandbox();
    await own.run`sandbox advance 31d`;
    for (const [env, where] of [
      [{}, own],
      [{ ESIGN_BASE_URL: baseUrl, ESIGN_API_KEY: apiKey }, home],
    ] as const)
      expect((await examined(env, [], where)).checks.clock).toMatchObject({
        status: 'ok',
        message: expect.stringContaining('31 days ahead') as unknown,
      });
  });

  it.each<[string, string, { order?: number; signers?: undefined; metadata?: undefined }, object]>([
    ['newest first, total, signers, metadata', 'ok', {}, { total: 3 }],
    ['oldest first, no total, no signers, metadata', 'ok', { signers: undefined, order: -1 }, {}],
    ['newest first, total, signers, no metadata', 'warning', { metadata: undefined }, { total: 3 }],
  ])('shows what lists contain: %s', async (message, status, { order = 1, ...more }, pagination) => {
    const item = (n: number) => ({
      id: `env_${n}`,
      createdAt: new Date(Date.UTC(2026, 0, 20 - order * n)).toISOString(),
      signers: [],
      metadata: {},
      ...more,
    });
    const page = await at((response) =>
      json(response, 200, { data: [1, 2, 3].map(item), meta: { pagination } }),
    );
    expect(page.checks.lists).toMatchObject({ status, message });
  });

  it('shows the search index, and names what an earlier version left', async () => {
    const own = new Home();
    await own.sandbox();
    await own.run`envelopes create --template tmpl_nda --signer ada@example.com`;
    await own.run`find ada`;
    await mkdir(own.path('state', 'bulk'));
    await mkdir(own.path('state', 'compatibility'));
    await writeFile(own.path('state', 'log', 'head.json'), '{}');
    const page = await examined({}, [], own);
    expect(page.checks.index?.message).toMatch(/^1 envelope, .* updated .* ago/);
    expect(page.checks['old-state']).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('bulk, compatibility, log/head.json') as unknown,
    });
    await own.run`profiles edit sandbox --no-index`;
    expect((await examined({}, [], own)).checks.index?.message).toBe('none is kept');
  });

  it("exits with 2 if the state folder can't be written", async () => {
    await writeFile(home.path('a-file'), '');
    const page = await examined({ ESIGN_STATE_DIR: home.path('a-file', 'state') });
    expect([page.code, page.checks.state?.status]).toEqual([2, 'failed']);
  });

  it('exits with 9 if the bucket is missing, unreachable, or refuses the key', async () => {
    const own = new Home();
    const { ready } = await own.sandbox();
    const storage = async (args: string[]) => {
      const made = await own.run`profiles edit sandbox --no-verify ${args}`;
      expect(made.stderr).toBe('');
      return examined({}, [], own);
    };
    await writeFile(own.path('secret'), 'not-the-secret-0123456789');
    const missing = await storage(['--bucket', 'elsewhere']);
    expect([missing.code, missing.checks.bucket?.status]).toEqual([9, 'failed']);
    const bucket = String(ready.bucket);
    const away = await storage(['--bucket', bucket, '--endpoint', 'http://127.0.0.1:9']);
    expect([away.code, away.checks.bucket?.status]).toEqual([9, 'failed']);
    const endpoint = String(ready.endpoint);
    const refused = await storage(['--endpoint', endpoint, '--secret-access-key-file', 'secret']);
    expect([refused.code, refused.checks.bucket?.status]).toEqual([9, 'failed']);
    expect(refused.text).not.toContain('not-the-secret');
  });
});
