import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, linesOf, reportedError } from '../support/cli.ts';
import { answerPage, type FakeService, fakeService, KEY } from '../support/fake-service.ts';
import { openCommand } from '../support/pty.ts';
import { json, loseReply } from '../support/server.ts';

const home = new Home();
const EXACT = '{"data":{"id":"env_1","2":1,"1":2,"big":12345678901234567890,"note":"\u009b31mred\u202e"}}';
/** The same with control characters and markup escaped. */
const SAFE = EXACT.replace('\u009b', '\\u009b').replace('\u202e', '\\u202e');
const TOTAL = 250;
const FIXED: Readonly<Record<string, readonly [number, unknown]>> = {
  '/broken': [500, { error: { code: 'INTERNAL', message: 'oops' } }],
  '/key': [200, { data: { [KEY]: KEY } }],
  '/keys': [200, { data: [{ id: 'x', note: KEY }] }],
};
let service: FakeService;

beforeAll(async () => {
  service = await fakeService((request, response) => {
    const route = request.path.replace('/api/v1', '');
    const fixed = FIXED[route];
    if (route === '/exact')
      response
        .writeHead(200, {
          'content-type': 'application/json',
          'x-ratelimit-remaining': '7',
          'set-cookie': 'sid=hidden',
        })
        .end(EXACT);
    else if (route === '/empty') response.writeHead(204).end();
    else if (route === '/lost') loseReply(response);
    else if (route === '/list')
      answerPage(request, response, TOTAL, (i) => ({ id: `env_${i}`, extra: { kept: [i] } }));
    else if (route === '/plain')
      response.writeHead(200).end('{"data":[1, 1,{"b":12345678901234567890,"1":1.0}]}');
    else if (fixed !== undefined) json(response, ...fixed);
    else if (request.method === 'POST') json(response, 201, { data: { id: 'env_2' } });
    else
      json(
        response,
        404,
        { error: { code: 'NOT_FOUND', message: 'no such route' } },
        { 'x-ratelimit-remaining': '6' },
      );
  });
});

const api = (args: string[], input?: string) =>
  home.run(argv`api ${args}`, { env: service.env, ...(input === undefined ? {} : { input }) });
const seen = (path: string) => service.server.seen.filter((request) => request.path === `/api/v1${path}`);

describe('a path that is not a route', () => {
  it('gets the route that it probably means', async () => {
    await home.sandbox();
    const { hint, next, exitCode } = reportedError(
      await home.run(argv`api /envelopes -q status=SENT --json`),
    );
    expect([hint, exitCode]).toEqual([`Did you mean \`${String(next)}\`?`, 4]);
    expect(next).toEqual(["esign api GET '/esign/envelopes?status=SENT'"]);
    expect((await home.run(argv`api GET /esign/envelopes?status=SENT`)).code).toBe(0);
    expect(reportedError(await home.run(argv`api POST /envelopes --json`))).toMatchObject({
      next: [],
      outcome: 'none',
    });
  });
});

describe('esign api', () => {
  it('prints the response as received: order, digits, unknown fields; nothing in it is executed', async () => {
    const { stdout, stderr, code } = await api(['exact']);
    expect([code, stdout, stderr]).toEqual([0, `${SAFE}\n`, '']);
    expect(parseJson(stdout)).toEqual(parseJson(EXACT));
    expect(seen('/exact')[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it('indents it with --json and keeps every digit', async () => {
    const { stdout } = await api(['get', '/exact', '--json']);
    expect(stdout).toContain('\n    "2": 1,\n    "1": 2,\n    "big": 12345678901234567890,\n');
  });

  it('hides the key if the service repeats it', async () => {
    for (const words of [['/key'], ['/key', '--json'], ['/keys', '--paginate']]) {
      const { stdout } = await api(words);
      expect([stdout.includes('[redacted]'), stdout.includes(KEY)]).toEqual([true, false]);
    }
  });

  it('is readable and harmless on a terminal', async () => {
    const screen = openCommand(home, ['api', '/exact'], { env: service.env });
    expect((await screen.ended).code).toBe(0);
    await screen.shows('"note": "\\u009b31mred\\u202e"');
    await screen.shows('    "id": "env_1",');
  });

  it('prints nothing for an empty response, and null with --json', async () => {
    expect(await api(['POST', '/empty'])).toMatchObject({ code: 0, stdout: '' });
    expect(await api(['POST', '/empty', '--json'])).toMatchObject({ code: 0, stdout: 'null\n' });
  });

  it('sends query parameters, including repeated ones', async () => {
    await api(['/exact?a=1', '-q', 'b=2 & 3', '-q', 'b=4']);
    expect(seen('/exact').at(-1)?.query.toString()).toBe('a=1&b=2+%26+3&b=4');
  });

  it('sends a body byte for byte, from stdin or a file', async () => {
    const body = '{"n": 12345678901234567890, "metadata": {}}';
    expect((await api(['post', '/made', '--body', '-'], body)).stdout).toBe('{"data":{"id":"env_2"}}\n');
    await writeFile(home.path('body.json'), body);
    await api(['post', '/made', '--body', 'body.json']);
    expect(seen('/made').map((request) => request.body)).toEqual([body, body]);
    expect(seen('/made')[0]?.headers['content-type']).toBe('application/json');
  });

  it('prints every page of a list as one array', async () => {
    const { stdout, code } = await api(['/list', '--paginate', '-q', 'status=SENT']);
    const items = parseJson(stdout);
    expect([code, Array.isArray(items) && items.length]).toEqual([0, TOTAL]);
    expect(Array.isArray(items) && items[249]).toEqual({ id: 'env_249', extra: { kept: [249] } });
    expect(seen('/list').map((request) => request.query.toString())).toEqual([
      'status=SENT&page=1&pageSize=100',
      'status=SENT&page=2&pageSize=100',
      'status=SENT&page=3&pageSize=100',
    ]);
  });

  it('treats a list without page counts as a single page', async () => {
    expect((await api(['/plain', '--paginate'])).stdout).toBe(
      '[\n  1,\n  1,\n  {\n    "b": 12345678901234567890,\n    "1": 1.0\n  }\n]\n',
    );
    expect(await api(['/exact', '--paginate', '--json'])).toMatchObject({ code: 8, stdout: '' });
  });

  it('writes once and reports an unknown outcome', async () => {
    const lost = await api(['POST', '/lost', '--body', '-', '--json'], '{}');
    expect(lost.code).toBe(8);
    expect(reportedError(lost)).toMatchObject({ code: 'UNKNOWN_OUTCOME', exitCode: 8 });
    expect(seen('/lost')).toHaveLength(1);
    expect(await api(['DELETE', '/broken'])).toMatchObject({ code: 8 });
    expect(seen('/broken')).toHaveLength(1);
  });

  it('shows a write with --dry-run, with secrets hidden, and sends nothing', async () => {
    const body = '{"webhookSecret":"canary-webhook-secret","subject":"x"}';
    const { stdout, code } = await api(['POST', '/dry', '--body', '-', '--dry-run'], body);
    expect([code, seen('/dry')]).toEqual([0, []]);
    expect(parseJson(stdout)).toEqual({
      dryRun: true,
      method: 'POST',
      url: `${service.server.origin}/api/v1/dry`,
      body: { webhookSecret: '[redacted]', subject: 'x' },
    });
    expect(stdout).not.toContain(KEY);
  });

  it.each([
    [['//evil.example/x'], /outside the API/],
    [['FETCH', '/x'], /FETCH/],
    [['POST', '/x', '--body', '-'], /is not JSON/],
    [['/x', '--body', '-'], /no body/],
    [['POST', '/x', '--body', 'missing.json'], /Can't read/],
    [['POST', '/x', '--paginate'], /only be used with GET/],
    [['/x', '-q', 'novalue'], /name=value/],
    [[], /argument PATH/],
    [['GET'], /argument PATH/],
    [['post'], /argument PATH/],
  ])('refuses %j with 2', async (args, says) => {
    const before = service.server.seen.length;
    const { code, stdout, stderr } = await api(args, '{"cut":');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(says);
    expect(service.server.seen).toHaveLength(before);
  });
});

describe('the rate limit', () => {
  /** A service with this many requests left until the reset. */
  async function limited(left: number, resetMs: number, count: number) {
    const seen = { refused: 0 };
    const resetAt = Date.now() + resetMs;
    const own = await fakeService((request, response) => {
      const isOver = Date.now() >= resetAt;
      const isFree = isOver || left-- > 0;
      if (!isFree) seen.refused++;
      const headers = {
        'X-RateLimit-Limit': '100',
        'X-RateLimit-Remaining': String(isOver ? 99 : Math.max(0, left)),
        'X-RateLimit-Reset': String(isOver ? resetAt + 900_000 : resetAt),
      };
      const id = request.path.split('/').at(-1);
      if (isFree) json(response, 200, { data: { id, status: 'SENT', signers: [] } }, headers);
      else json(response, 429, { error: { code: 'RATE_LIMITED', message: 'slow down' } }, headers);
    });
    const input = Array.from({ length: count }, (_, i) => `env_${i}\n`).join('');
    const run = await home.run(argv`envelopes get - --json`, { env: own.env, input });
    return { ...run, refused: seen.refused };
  }

  it('is awaited, and nothing is lost', async () => {
    const { code, stdout } = await limited(3, 1_500, 6);
    expect([code, linesOf(stdout).length]).toEqual([0, 6]);
  });

  it('of a gateway is awaited as its response says, not until the window resets', async () => {
    const times: number[] = [];
    const own = await fakeService((request, response) => {
      times.push(Date.now());
      const headers = {
        'X-RateLimit-Limit': '10000',
        'X-RateLimit-Remaining': '9988',
        'X-RateLimit-Reset': String(Math.ceil(Date.now() / 1_000) + 780),
      };
      const id = request.path.split('/').at(-1);
      if (times.length !== 2) json(response, 200, { data: { id, status: 'SENT', signers: [] } }, headers);
      else {
        const error = { code: 'RATE_LIMITED', message: 'slow down' };
        json(response, 429, { error }, { ...headers, 'Retry-After': '2' });
      }
    });
    const run = await home.run(argv`envelopes get - --json`, {
      env: own.env,
      input: 'env_1\nenv_2\nenv_3\n',
    });
    expect([run.code, linesOf(run.stdout).length, times.length]).toEqual([0, 3, 4]);
    const waited = (times.at(-1) ?? 0) - (times[1] ?? 0);
    expect(waited).toBeGreaterThan(2_000);
    // The window resets after 13 minutes.
    expect(waited).toBeLessThan(60_000);
  });
});
