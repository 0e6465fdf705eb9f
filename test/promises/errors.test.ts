import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { isList, isRecord } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { type Finished, Home, jsonLines, reportedError, type Sandbox } from '../support/cli.ts';
import { commands } from '../support/every-command.ts';
import { serviceOfOne } from '../support/fake-service.ts';
import { json, startServer, type TestServer } from '../support/server.ts';

const home = new Home();
const every = await commands();
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await home.sandbox();
});

/** Nothing on stdout, a message on stderr, no internals. */
function isPlain(finished: Finished): void {
  expect(finished.stdout).toBe('');
  expect(finished.stderr).toMatch(/^Error: \S.*[.)?]$/m);
  expect(finished.stderr).not.toMatch(/\bat .*[/\\].*:\d+|node:internal|undefined|\[object/);
}

/** Runs a failing command in both formats and checks the output contract of each. */
async function fails(
  args: string[],
  wanted: { exit: number; code: string; says?: RegExp; env?: Record<string, string> },
) {
  const options = { env: wanted.env ?? {} };
  const [words, lines] = [await home.run(args, options), await home.run(argv`${args} --json`, options)];
  isPlain(words);
  expect(words.code).toBe(wanted.exit);
  expect(lines.code).toBe(wanted.exit);
  expect(reportedError(lines)).toMatchObject({ code: wanted.code, exitCode: wanted.exit });
  expect(lines.stderr.trim().split('\n')).toHaveLength(1);
  if (wanted.says) expect(words.stderr).toMatch(wanted.says);
}

const at = (baseUrl: string, apiKey = 'sk_canary_0123456789') => ({
  ESIGN_BASE_URL: baseUrl,
  ESIGN_API_KEY: apiKey,
});

describe('a key that is not one', () => {
  it.each(['"esk_0123456789"', '$ESIGN_KEY', 'undefined'])('is refused before it is sent: %s', (key) =>
    fails(['envelopes', 'list'], {
      exit: 2,
      code: 'USAGE',
      env: at('http://127.0.0.1:9/api/v1', key),
      says: /^Error: ESIGN_API_KEY is not a valid key/,
    }),
  );
});

describe('a refusal by the service', () => {
  it('exits with 3 for a wrong key', () =>
    fails(['envelopes', 'list'], {
      exit: 3,
      code: 'UNAUTHORIZED',
      env: at(sandbox.baseUrl),
      says: /UNAUTHORIZED/,
    }));

  it('exits with 3 for a key without the scope', async () => {
    const reply = await fetch(new URL('/__sandbox/keys', sandbox.baseUrl), {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'reader', scopes: ['esign:read'] }),
    });
    const body: unknown = await reply.json();
    const key = isRecord(body) && isRecord(body.data) ? String(body.data.key) : '';
    const env = at(sandbox.baseUrl, key);
    expect((await home.run(argv`templates list`, { env })).code).toBe(0);
    await fails(['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'Ada <a@b.c>'], {
      exit: 3,
      code: 'FORBIDDEN',
      env,
      says: /esign:write/,
    });
  });

  it('exits with 4 for an unknown ID, also after --', async () => {
    await fails(['envelopes', 'get', 'env_missing'], { exit: 4, code: 'NOT_FOUND' });
    expect((await home.run`envelopes get -- -f`).code).toBe(4);
  });

  it('exits with 5 for a wrong state', async () => {
    const draft = await home.object`envelopes create --template tmpl_nda --signer a@b.c --send`;
    await fails(['envelopes', 'send', String(draft.id)], {
      exit: 5,
      code: 'INVALID_STATE',
      says: /INVALID_STATE/,
    });
  });

  it('exits with 6 for an invalid body, and names each field', () =>
    fails(
      ['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'Ada <a@b.c>', '--webhook-url', 'x'],
      {
        exit: 6,
        code: 'VALIDATION_ERROR',
        says: /webhookUrl: /,
      },
    ));

  it("exits with 2 for a role that the template doesn't have, before anything is sent", () =>
    fails(['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'Ada <a@b.c>;role=Emperor'], {
      exit: 2,
      code: 'USAGE',
      says: /no role "Emperor" for a@b.c; it has Signer/,
    }));

  it("exits with 7 for too many requests, once waiting doesn't help", async () => {
    const server = await startServer((_, response) =>
      json(
        response,
        429,
        { error: { code: 'RATE_LIMITED', message: 'Too many requests' } },
        { 'X-RateLimit-Reset': String(Math.ceil(Date.now() / 1_000) + 900) },
      ),
    );
    await fails(['templates', 'list'], { exit: 7, code: 'RATE_LIMITED', env: at(`${server.origin}/api/v1`) });
  });
});

describe('a base URL without the API', () => {
  const here = () => at(new URL(sandbox.baseUrl).origin, sandbox.apiKey);

  it.each([
    'envelopes list',
    'envelopes get env_1',
    'envelopes send env_1',
    'envelopes remind env_1',
    'envelopes cancel env_1',
    'envelopes watch env_1',
    'envelopes create --template tmpl_nda --signer a@b.c',
    'bulk create rows.jsonl --yes',
    'templates get tmpl_nda',
    'find ada',
    'late',
  ])('exits with 8, and names the likely one, and the command that uses it: %s', async (line) => {
    await writeFile(home.path('rows.jsonl'), '{"templateId":"tmpl_nda","signers":[{"email":"a@b.c"}]}\n');
    const failed = await home.run(argv`${line.split(' ')} --json`, { env: here() });
    expect(reportedError(failed)).toMatchObject({
      code: 'BAD_RESPONSE',
      hint: expect.stringContaining(`Did you mean ${sandbox.baseUrl}?`) as unknown,
      next: [`esign ${line} --json --base-url ${sandbox.baseUrl}`],
      outcome: /send|remind|cancel|create/.test(line) ? 'none' : null,
      exitCode: 8,
    });
  });

  it('is not blamed for an ID that does not exist', async () => {
    const failed = await home.run`envelopes send env_missing --json`;
    expect(reportedError(failed)).toMatchObject({ code: 'NOT_FOUND', exitCode: 4 });
  });
});

describe('the outcome and the next commands of an error', () => {
  const outcomeOf = async (line: string, env: Record<string, string> = {}) =>
    reportedError(await home.run([...line.split(' '), '--json'], { env })).outcome;

  it('is `none` for a write that was refused or invalid, `unknown` after a lost response, and null for reads', async () => {
    const lost = await startServer(({ method }, response) => {
      if (method === 'GET') json(response, 200, { data: { id: 'env_1', status: 'SENT' } });
      else response.destroy();
    });
    expect(await outcomeOf('envelopes send env_missing')).toBe('none');
    expect(await outcomeOf('envelopes send')).toBe('none');
    expect(await outcomeOf('envelopes remind env_1 --yes', at(lost.origin))).toBe('unknown');
    expect(await outcomeOf('api POST /x', at(lost.origin))).toBe('unknown');
    expect(await outcomeOf('envelopes send env_missing --no-such-flag')).toBe('none');
    expect(await outcomeOf('profiles remove nosuch --yes')).toBe('none');
    expect(await outcomeOf('sandbox reset')).toBe('none');
    expect(await outcomeOf('sandbox reset --yes', at(lost.origin))).toBe('unknown');
    expect(await outcomeOf('envelopes get env_missing')).toBe(null);
    expect(await outcomeOf('api GET /esign/envelopes/env_missing')).toBe(null);
  });

  it('are in each line of several items, and null in the summary', async () => {
    const run = await home.run`envelopes cancel env_a env_b --yes --json`;
    const lines = jsonLines(run.stdout);
    expect(lines).toMatchObject([{ error: { outcome: 'none' } }, { error: { outcome: 'none' } }]);
    expect(jsonLines(run.stderr)).toMatchObject([{ error: { code: 'PARTIAL', outcome: null } }]);
  });

  it('contain commands that run as they stand, which people see, too', async () => {
    const id = String((await home.object`envelopes create --template tmpl_nda --signer a@b.c --send`).id);
    const words = ['envelopes', 'send', id];
    const report = reportedError(await home.run([...words, '--json']));
    expect(report.next).toEqual([`esign envelopes get ${id} --history`]);
    expect((await home.run(words)).stderr).toContain(`\`esign envelopes get ${id} --history\``);
    for (const line of ['envelopes send', 'envelopes lst', 'templates list --profile nosuch']) {
      const { next } = reportedError(await home.run([...line.split(' '), '--json']));
      if (!isList(next)) throw new Error(`${line} has no next commands`);
      for (const command of next)
        expect((await home.run(String(command).split(' ').slice(1))).code, String(command)).toBe(0);
    }
  });

  it('contain no command with a placeholder, or with IDs from stdin', async () => {
    const input = 'env_1\n';
    const run = await home.run(argv`envelopes watch - --timeout 1s --json`, {
      input,
      env: at(new URL(sandbox.baseUrl).origin, sandbox.apiKey),
    });
    expect(reportedError(run)).toMatchObject({ exitCode: 8, next: [] });
    const none = await home.run(argv`envelopes list --json`, {
      env: { ESIGN_CONFIG_DIR: home.path('empty') },
    });
    expect(reportedError(none).next).toEqual(['esign sandbox start']);
  });

  it('offer local results while the service is unavailable', async () => {
    const { server, env } = await serviceOfOne();
    expect((await home.run(argv`find env_1 -q`, { env })).stdout).toBe('env_1\n');
    await server.close();
    const [found, got] = [argv`find env_1 --json`, argv`envelopes get env_1 --json`];
    expect(reportedError(await home.run(found, { env }))).toMatchObject({
      code: 'NETWORK',
      hint: expect.stringMatching(/This machine has 1 envelope in its index, .* old/) as unknown,
      next: expect.arrayContaining(['esign find env_1 --json --cached']) as unknown,
    });
    expect(reportedError(await home.run(got, { env })).next).toContain('esign find env_1 --cached');
    expect((await home.run(argv`find env_1 --cached -q`, { env })).stdout).toBe('env_1\n');
  });
});

describe('a response from something other than the service', () => {
  let server: TestServer;
  const answers: Record<string, (response: import('node:http').ServerResponse) => void> = {
    portal: (response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in to the Wi-Fi</html>'),
    cut: (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
      response.write('{"data":[', () => response.destroy());
    },
    flag: (response) => json(response, 200, { data: { id: '--run=last', status: 'SENT' } }),
    html502: (response) =>
      void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>'),
  };

  beforeAll(async () => {
    server = await startServer((request, response) => answers[request.path.split('/')[1] ?? '']?.(response));
  });

  it.each([
    ['portal', 'BAD_RESPONSE', /unexpected body/],
    ['flag', 'BAD_RESPONSE', /id is missing or doesn't match/],
    ['cut', 'NETWORK', /was lost/],
    ['html502', 'BAD_RESPONSE', /502[\s\S]*again later/],
  ])('exits with 8 after a response of the kind %s', async (path, code, says) => {
    await fails(['envelopes', 'get', 'env_1'], { exit: 8, code, says, env: at(`${server.origin}/${path}`) });
  });

  it('exits with 8 if nothing is listening', () =>
    fails(['envelopes', 'get', 'env_1'], {
      exit: 8,
      code: 'NETWORK',
      says: /connection refused/,
      env: at('http://127.0.0.1:9/api/v1'),
    }));

  it('exits with 8 after a timeout', async () => {
    const silent = await startServer(({ method }, response) => {
      if (method === 'GET') json(response, 200, { data: { id: 'env_1', status: 'DRAFT' } });
    });
    const env = { ...at(silent.origin), ESIGN_TIMEOUT: '300ms' };
    await fails(['envelopes', 'send', 'env_1'], {
      exit: 8,
      code: 'UNKNOWN_OUTCOME',
      says: /may or may not/,
      env,
    });
    // Three tries in each of two runs: the state shows that nothing happened.
    expect(silent.seen.filter((request) => request.method === 'POST')).toHaveLength(6);
    const nothing = await startServer(() => undefined);
    const there = { ...env, ...at(nothing.origin) };
    await fails(['envelopes', 'send', 'env_1'], { exit: 8, code: 'TIMEOUT', env: there });
    expect(nothing.seen.some((request) => request.method === 'POST')).toBe(false);
  });
});

describe('a usage error', () => {
  it.each([
    [['envelopes', 'lst'], /Did you mean `esign envelopes list`/],
    [['envelop', 'lst', '--json'], /Did you mean `esign envelopes list --json`/],
    [['bulkk', 'create', 'rows.csv'], /Did you mean `esign bulk create rows.csv`/],
    [['envelop'], /Did you mean `esign envelopes`/],
    [['finf', 'ada'], /Did you mean `esign find ada`/],
    [['help', 'nosuch'], /Unknown command "nosuch"/],
    [['api'], /Missing argument PATH/],
    [['bulk', 'template', 'no/such/folder.csv'], /its folder does not exist/],
    [['envelopes', 'list', '--staus', 'SENT'], /Did you mean --status/],
    [['envelopes', 'list', '--status', 'SNET'], /Did you mean SENT/],
    [['envelopes', 'list', '--status', 'opne'], /Did you mean open/],
    [['envelopes', 'list', '--json', '--csv'], /--csv and --json|--json and --csv/],
    [['envelopes', 'get'], /at least one envelope ID/],
    [['templates', 'get', 'a', 'b'], /Unexpected argument/],
    [['envelopes', 'create', '--signer', 'a@b.c'], /template/],
    [['envelopes', 'create', '--signing-order', 'seq'], /one of sequential, parallel, not seq\./],
    [['sandbox', 'sign'], /^Error: Missing argument ENVELOPE: .*\n.*`esign sandbox sign --help`\.\n$/],
    [['--bogus'], /Unknown flag --bogus/],
    [['find', 'ada', '-n'], /Unknown flag -n/],
  ])('exits with 2 and prints nothing to stdout: %j', async (args, says) => {
    const finished = await home.run(args);
    expect([finished.code, finished.stdout]).toEqual([2, '']);
    expect(finished.stderr).toMatch(says);
    expect(finished.stderr).not.toMatch(/\bat .*:\d+/);
  });

  it.each([
    ['envelopes list -L 0', '--limit takes an integer greater than or equal to 1, not 0.'],
    ['envelopes list --limit=', '--limit takes an integer, not an empty value.'],
    ['envelopes list --since soon', '--since "soon" is neither a duration nor a date.'],
    ['envelopes watch env_1 --interval 5parsecs', '--interval "5parsecs" is not a duration.'],
    ['envelopes download env_1 --what foo', 'Unknown document type "foo".'],
    ['sandbox start --rate-limit x', 'The rate limit "x" must have the form N/TIME.'],
  ])('names the invalid value of a flag in one sentence, with a hint: %s', async (line, sentence) => {
    const words = line.split(' ');
    const [plain, lines] = [await home.run(words), await home.run`${words} --json`];
    expect(plain).toMatchObject({ code: 2, stdout: '' });
    const [first, hint = '', ...rest] = plain.stderr.split('\n');
    expect([first, rest]).toEqual([`Error: ${sentence}`, ['']]);
    expect(reportedError(lines)).toMatchObject({ code: 'USAGE', message: sentence, hint });
  });

  it.each(every)('is returned for an unknown flag: %s', async (id) => {
    const done = await home.run([...id.split(':'), '--no-such-flag', '--json']);
    expect([done.code, reportedError(done).message]).toEqual([
      2,
      expect.stringContaining('Unknown flag --no-such-flag') as unknown,
    ]);
  });

  it('is returned if two flags would read stdin', async () => {
    const create = 'envelopes create --template tmpl_nda --signers-file - --message-file - --send --json';
    const run = await home.run(create.split(' '), { input: '[{"email":"ada@example.com","name":"Ada"}]' });
    expect(reportedError(run)).toMatchObject({ code: 'USAGE', exitCode: 2 });
    expect(await home.json`envelopes list --template tmpl_nda --status DRAFT`).toEqual([]);
  });

  it('is returned for a profile together with a key in the environment', () =>
    fails(['envelopes', 'list', '--profile', 'sandbox'], {
      exit: 2,
      code: 'USAGE',
      says: /unclear which key/,
      env: { ESIGN_API_KEY: 'sk_0123456789' },
    }));

  it('is returned for a sandbox command if the service is not a sandbox', async () => {
    const server = await startServer((_, response) =>
      json(response, 404, { error: { code: 'NOT_FOUND', message: 'Route not found' } }),
    );
    await fails(['sandbox', 'sign', 'env_1'], {
      exit: 2,
      code: 'USAGE',
      says: /not a sandbox/,
      env: at(`${server.origin}/api/v1`),
    });
  });
});
