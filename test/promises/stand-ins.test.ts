import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createSecureServer } from 'node:http2';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { mapInOrder } from '../../src/kernel/streams.ts';
import { argv } from '../support/argv.ts';
import { certify } from '../support/certificates.ts';
import { AT_A_TIME, Home, reportedError } from '../support/cli.ts';
import { fakeService, KEY } from '../support/fake-service.ts';
import { json, portOf } from '../support/server.ts';

/* What a wrong stand-in of scripts/stand-ins.js would break, each with the built program. */
const home = new Home();
afterAll(() => home.close());
const root = join(import.meta.dirname, '../..');

/** Every command, as arguments. */
async function commands(): Promise<string[]> {
  const manifest = parseJson(await readFile(join(root, 'oclif.manifest.json'), 'utf8'));
  const known = isRecord(manifest) && isRecord(manifest.commands) ? manifest.commands : {};
  return Object.keys(known).map((id) => id.replaceAll(':', ' '));
}

describe("oclif without its runner's parts", () => {
  it('starts each command, parses its flags, and reports the invalid one', async () => {
    const all = await commands();
    expect(all.length).toBeGreaterThan(40);
    const tried = mapInOrder(all, AT_A_TIME, async (words) => {
      const done = await home.run([...words.split(' '), '--no-such-flag', '--json']);
      return [words, done.code, reportedError(done).message];
    });
    const answers: unknown[] = [];
    for await (const one of tried) answers.push(one);
    expect(answers).toEqual(
      all.map((words) => [words, 2, expect.stringContaining('--no-such-flag') as unknown]),
    );
  });

  it.each([
    ['envelopes create --signing-order backwards', '--signing-order'],
    ['envelopes watch env_1 --count --json', '--count'],
    ['bulk create --dry-run', 'Missing argument file'],
    ['events show', 'Missing argument id'],
    ['listen --until COMPLETED', '--envelope'],
    ['sandbox sign env_1 --all --signer a', '--all'],
    ['profiles use one two', 'Unexpected argument'],
    // The version is printed only for the first argument.
    ['envelopes get env_1 --version', '--version'],
  ])('formats the errors of `esign %s` itself, without colors', async (words, named) => {
    const done = await home.run(words.split(' '), { env: { FORCE_COLOR: '1' } });
    expect(done.code).toBe(2);
    expect(done.stderr).toContain(named);
    const [first = ''] = done.stderr.split('\n');
    // One color, of our own format.
    expect(first.replace(/^\S+ /, '')).not.toContain('\u001b');
  });

  it('asks for a missing argument, with anything on stdin', async () => {
    const done = await home.run(argv`events show`, { input: 'evt_1\n' });
    expect(done.code).toBe(2);
    expect(done.stderr).toContain('Missing argument id');
  });

  it('prints no additional debug output when DEBUG asks for everything, and errors then have a stack', async () => {
    const env = { DEBUG: '*' };
    expect(await home.run(argv`profiles list --json`, { env })).toMatchObject({ code: 0, stderr: '' });
    const failed = await home.run(argv`envelopes get --nope`, { env });
    expect(failed.stderr).toMatch(/UsageError: Unknown flag --nope\.\n +at /);
  });

  it('still has help, and a command after help', async () => {
    const help = await home.run(argv`envelopes get --help`, {
      env: { FORCE_COLOR: '0', OCLIF_COLUMNS: '60' },
    });
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toContain('USAGE');
  });
});

describe('undici without HTTP/2, forms, and parts of node:http', () => {
  it('uses HTTP/1.1 with a server that prefers HTTP/2', async () => {
    const authority = await certify('esign test authority');
    await writeFile(home.path('ca.pem'), authority.cert);
    const options = { ...(await certify('localhost', authority)), allowHTTP1: true };
    const versions: string[] = [];
    const server = createSecureServer(options, (request, response) => {
      versions.push(request.httpVersion);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ data: { id: 'env_1', status: 'SENT' } }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const port = portOf(server);
    const env = { ESIGN_BASE_URL: `https://127.0.0.1:${port}/api/v1`, ESIGN_API_KEY: KEY };
    const done = await home.run(argv`envelopes get env_1`, {
      env: { ...env, NODE_EXTRA_CA_CERTS: home.path('ca.pem') },
    });
    server.close();
    expect([done.code, versions]).toEqual([0, ['1.1']]);
  });

  it.each([
    [12_000, 0],
    [20_000, 8],
  ])('accepts headers of %i bytes like Node: %i', async (size, code) => {
    const { server, env } = await fakeService((_, response) =>
      json(response, 200, { data: { id: 'env_1' } }, { 'x-long': 'x'.repeat(size) }),
    );
    const done = await home.run(argv`envelopes get env_1 --json`, { env });
    await server.close();
    expect(done.code).toBe(code);
  });

  it('sends a body unchanged, byte for byte', async () => {
    const { server, env } = await fakeService((_, response) => json(response, 200, { data: {} }));
    const body = '{"a": "ü€😀",\n "b": 1.0}';
    await home.run(argv`api POST /esign/x --body -`, { env, input: body });
    await server.close();
    expect(server.seen.map((request) => request.body)).toEqual([body]);
  });
});

describe('the Model Context Protocol without ajv', () => {
  it('lists tools, accepts valid calls, and refuses invalid ones', async () => {
    const call = (id: number, given: string) =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"verify","arguments":${given}}}\n`;
    const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n';
    const input = `${list}${call(2, '{"paths":["nowhere"]}')}${call(3, '{"paths":7}')}`;
    const { code, stdout } = await home.run(['mcp'], { input });
    const answers = stdout.split('\n').sort();
    expect([code, answers.length]).toEqual([0, 4]);
    expect(stdout).not.toContain('left out of the bundle');
    expect(stdout).toMatch(/"inputSchema"/);
    expect(stdout).toMatch(/Can't read nowhere/);
    expect(answers.find((line) => line.includes('"id":3'))).toContain('"isError":true');
  });
});
