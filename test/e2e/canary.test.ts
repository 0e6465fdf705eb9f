import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { Home } from '../support/cli.ts';
import { json } from '../support/server.ts';
import { type FakeService, fakeService } from './fake-service.ts';

const KEY = 'sk_canarykey_0123456789abcdef';
const SECRET = 'canarysecret-0123456789abcdef';
const home = new Home();
let service: FakeService;

/** Its own errors repeat the key and the secret, as careless services do. */
beforeAll(async () => {
  service = await fakeService((request, response) => {
    const message = `Bad ${request.headers.authorization ?? ''} with ${SECRET} in {"webhookSecret":"${SECRET}"}`;
    const [, kind] = request.path.split('/');
    if (kind === 'cut') {
      response.writeHead(200, { 'content-length': 999 }).write(message, () => response.destroy());
      return;
    }
    if (kind === 'html') return void response.writeHead(200, { 'content-type': 'text/html' }).end(message);
    json(response, kind === 'unauthorized' ? 401 : 400, {
      error: {
        code: kind === 'unauthorized' ? 'UNAUTHORIZED' : 'VALIDATION_ERROR',
        message,
        details: { x: [message] },
      },
    });
  });
  await mkdir(home.path('given'));
  await writeFile(home.path('given', 'secret'), SECRET);
  await writeFile(home.path('given', 'text'), 'hello');
});
afterAll(async () => {
  await service.server.close();
  await home.close();
});

/** They go on until they are stopped, or need a sandbox of their own; tests of their own look at their output. */
const NOT_HERE = /^(demo|listen|sandbox:start|events:|autocomplete)/;

interface Described {
  flags: Record<string, { required?: boolean; type?: string }>;
  args: Record<string, { required?: boolean }>;
}

async function commands(): Promise<[string, Described][]> {
  const manifest = parseJson(await readFile(join(import.meta.dirname, '../../oclif.manifest.json'), 'utf8'));
  const all = isRecord(manifest) && isRecord(manifest.commands) ? manifest.commands : {};
  return Object.entries(all).flatMap(([id, command]): [string, Described][] => {
    if (NOT_HERE.test(id) || !isRecord(command) || !isRecord(command.flags)) return [];
    const flags = Object.fromEntries(
      Object.entries(command.flags).map(([name, flag]) => [name, isRecord(flag) ? flag : {}]),
    );
    const args = isRecord(command.args) ? command.args : {};
    return [[id, { flags, args: Object.fromEntries(Object.keys(args).map((name) => [name, {}])) }]];
  });
}

const VALUES: Readonly<Record<string, string>> = {
  template: 'tmpl_1',
  signer: 'a@b.c',
  'webhook-url': 'http://127.0.0.1:9/hook',
  until: 'COMPLETED',
};

/** Words for a run that gets as far as it can, with each secret file it takes. */
function wordsOf(id: string, { flags, args }: Described): string[] {
  const words = [...id.split(':'), ...Object.keys(args).map(() => 'env_1')];
  for (const [name, flag] of Object.entries(flags)) {
    if (/secret.*-file$/.test(name)) words.push(`--${name}`, join('given', 'secret'));
    else if (flag.required || (name in VALUES && id === 'envelopes:create'))
      words.push(`--${name}`, VALUES[name] ?? 'x');
  }
  if ('yes' in flags) words.push('--yes');
  return [...words, '--debug', '--timeout', '2s', '--no-input'];
}

/** Every file below the folder but the profile store and what the user gave. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/(\/given\/|profiles\.json$)/.test(path));
}

describe('the key and the webhook secret', () => {
  it.each(['unauthorized', 'invalid', 'html', 'cut'])(
    'appear in nothing that any command prints or keeps, whatever goes wrong: %s',
    async (kind) => {
      const env = {
        ESIGN_BASE_URL: `${service.server.origin}/${kind}/v1`,
        ESIGN_API_KEY: KEY,
        ESIGN_WEBHOOK_SECRET: SECRET,
      };
      const leaks: string[] = [];
      const all = await commands();
      expect(all.length).toBeGreaterThan(20);
      const next = all.values();
      const worker = async () => {
        for (const [id, command] of next) {
          const { stdout, stderr } = await home.run(wordsOf(id, command), { env, input: `${KEY}\n` });
          if (/canarykey|canarysecret/.test(stdout + stderr)) leaks.push(`${id}: ${stdout}${stderr}`);
        }
      };
      await Promise.all([worker(), worker(), worker()]);
      expect(leaks).toEqual([]);
      for (const path of await filesBelow(home.folder)) {
        expect(path).not.toMatch(/canarykey|canarysecret/);
        expect(await readFile(path, 'utf8')).not.toMatch(/canarykey|canarysecret/);
      }
    },
  );
});
