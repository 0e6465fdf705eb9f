import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { mapInOrder } from '../../src/kernel/streams.ts';
import { AT_A_TIME, Home } from '../support/cli.ts';
import { commands, type Described, ENDLESS, wordsOf } from '../support/every-command.ts';
import { type FakeService, fakeService } from '../support/fake-service.ts';
import { json } from '../support/server.ts';

const KEY = 'sk_canarykey_0123456789abcdef';
const SECRET = 'canarysecret-0123456789abcdef';
/** The first part of either is as bad as the whole. */
const LEAK = /canarykey|canarysec/;
const home = new Home();
let service: FakeService;

const errorBody = (code: string, message: string) => ({
  error: { code, message, details: { x: [message] } },
});

/** Repeats the secret, so that truncating the response after this many characters cuts through one of them. */
function straddling(secret: string, cutAt: number): string {
  const list = `${secret} `.repeat(200);
  for (let before = 0; ; before++) {
    const message = 'x'.repeat(before) + list;
    if (JSON.stringify(errorBody('VALIDATION_ERROR', message)).slice(0, cutAt).endsWith(secret.slice(0, 20)))
      return message;
  }
}
const STRADDLING = [straddling(KEY, 2_000), straddling(SECRET, 2_000)];

/** Its errors repeat the key and the secret, as careless services do. */
beforeAll(async () => {
  service = await fakeService((request, response, number) => {
    const message = `Bad ${request.headers.authorization ?? ''} with ${SECRET} in {"webhookSecret":"${SECRET}"}`;
    const [, kind] = request.path.split('/');
    if (kind === 'cut') {
      response.writeHead(200, { 'content-length': 999 }).write(message, () => response.destroy());
      return;
    }
    if (kind === 'html') return void response.writeHead(200, { 'content-type': 'text/html' }).end(message);
    if (kind === 'unauthorized') return json(response, 401, errorBody('UNAUTHORIZED', message));
    const long = STRADDLING[number % STRADDLING.length] ?? '';
    json(response, 400, errorBody('VALIDATION_ERROR', kind === 'long' ? long : message));
  });
  await mkdir(home.path('given'));
  await writeFile(home.path('given', 'secret'), SECRET);
  await writeFile(home.path('given', 'text'), 'hello');
  await writeFile(home.path('given', 'rows.csv'), 'email,name,meta.note\nada@example.com,Ada,one\n');
  await writeFile(home.path('given', 'delivery'), '{"event":"envelope.sent"}');
});

/** Every file in the folder except the profile store and the user's own files. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/(\/given\/|profiles\.json$)/.test(path));
}

const kinds = [
  ['unauthorized', {}],
  ['invalid', { DEBUG: '*' }],
  ['html', { DEBUG: '1' }],
  ['cut', {}],
  ['long', {}],
] as const;

it('has no flag for a secret, whose value would appear in process lists and shell histories', async () => {
  const flags = (await commands()).flatMap(([id, command]) =>
    Object.entries(command.flags).map(([name, { type }]) => ({ id, name, type })),
  );
  const secret = flags.filter(
    ({ name, type }) => /key|secret|token|password/.test(name) && type === 'option',
  );
  expect(secret.filter(({ name }) => !/-(file|command|id)$/.test(name))).toEqual([]);
  expect(secret.length).toBeGreaterThan(5);
});

describe('the key and the webhook secret', () => {
  for (const [kind, more] of kinds)
    it(`are not in the output or the files of any command after a response of kind ${kind}`, {
      tags: kind === 'long' ? [] : ['full'],
      timeout: 300_000,
    }, async () => {
      const env = {
        ESIGN_BASE_URL: `${service.server.origin}/${kind}/v1`,
        ESIGN_API_KEY: KEY,
        ESIGN_WEBHOOK_SECRET: SECRET,
        HTTPS_PROXY: 'http://ada:canarysecofproxy@127.0.0.1:9',
        ...more,
      };
      const all = (await commands()).filter(([id]) => id !== 'demo' || kind === 'invalid');
      expect(all.length).toBeGreaterThan(40);
      const leaks: string[] = [];
      const useless: string[] = [];
      const look = async ([id, command]: [string, Described]) => {
        const under = ENDLESS.includes(id) ? ['timeout', '--signal=INT', '4'] : [];
        const words = wordsOf(id, command);
        const { stdout, stderr, code } = await home.run(words, { env, input: `${KEY}\n`, under });
        const all = `${words.join(' ')}: ${stdout}${stderr}`;
        if (LEAK.test(all)) leaks.push(all);
        if (code === 2 && /flag|argument/.test(stderr)) useless.push(all);
      };
      // Writes without a response search for their outcome, for a minute each.
      for await (const _ of mapInOrder(all, kind === 'cut' ? 16 : AT_A_TIME, look));
      expect(leaks).toEqual([]);
      expect(useless).toEqual([]);
      for (const path of await filesBelow(home.folder)) {
        expect(path).not.toMatch(LEAK);
        expect(await readFile(path, 'utf8')).not.toMatch(LEAK);
      }
    });
});

describe('the secrets of a working account', () => {
  const account = new Home();

  it('are never printed, not even with --debug; only the first characters of a key are shown', async () => {
    const { apiKey, ready } = await account.sandbox();
    await writeFile(account.path('hook.secret'), SECRET);
    const hook = '--webhook-url http://127.0.0.1:9/h --webhook-secret-file hook.secret';
    const runs = [
      await account.run(`envelopes create --template tmpl_nda --signer a@b.c ${hook} --debug`.split(' ')),
      await account.run`envelopes list --debug --json`,
      await account.run`envelopes get env_missing --debug`,
      await account.run`profiles list --json`,
      await account.run`profiles show --json`,
      await account.run`profiles show nope`,
    ];
    expect(runs[0]?.stderr).toContain('→ POST');
    for (const { stdout, stderr } of runs)
      for (const secret of [apiKey, SECRET, String(ready.secretAccessKey)])
        expect(stdout + stderr).not.toContain(secret);
    expect(runs[4]?.stdout).toContain(`${apiKey.slice(0, 8)}…`);
  });

  it.skipIf(process.platform === 'win32')(
    'reach the key command only if they are for AWS; the webhook secret does not',
    async () => {
      const seen = account.path('seen');
      const base = 'profiles add keyed --base-url http://127.0.0.1:9 --no-verify --api-key-command'.split(
        ' ',
      );
      await account.run([...base, `env > ${seen}; echo esk_printed`]);
      await account.run(['templates', 'list', '--no-wait', '--timeout', '1s', '-p', 'keyed'], {
        env: { ESIGN_WEBHOOK_SECRET: SECRET, AWS_SECRET_ACCESS_KEY: 'secret-of-bucket' },
      });
      const environment = await readFile(seen, 'utf8');
      expect(environment).toContain('secret-of-bucket');
      expect(environment).not.toContain(SECRET);
    },
  );

  it('may come from stdin, without its line break', async () => {
    const refusing = await fakeService((request, response) =>
      request.method === 'POST'
        ? json(response, 400, errorBody('VALIDATION_ERROR', 'no'))
        : json(response, 200, { data: { id: 'tmpl_1' } }),
    );
    const create =
      'envelopes create --template tmpl_1 --signer a@b.c --webhook-url https://example.com/hooks';
    await account.run([...create.split(' '), '--webhook-secret-file', '-'], {
      env: refusing.env,
      input: `${SECRET}\n`,
    });
    const posts = refusing.server.seen.filter(({ method }) => method === 'POST');
    expect(posts.map(({ body }) => body)).toEqual([expect.stringContaining(`"webhookSecret":"${SECRET}"`)]);
  });
});
