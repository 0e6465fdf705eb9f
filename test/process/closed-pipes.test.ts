import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { COMMAND, Home, jsonLines, linesOf } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeService, fakeService } from '../support/fake-service.ts';
import { json, type SeenRequest, startServer } from '../support/server.ts';

/* Behavior when the reader of stdout or stderr goes away, with real pipes. */
const home = new Home();
/** Exists once the reader has closed its pipe. */
const closed = home.pathLater('closed');
/** Reads one line, and closes the pipe. */
const HEAD = `{ head -1; exec <&-; touch ${closed}; }`;
const CLOSE = `{ exec <&-; touch ${closed}; }`;
const CODES = `echo "exit codes \${PIPESTATUS[*]}"`;
const IDS = Array.from({ length: 12 }, (_, i) => `env_${i}`);
const LISTED = 30_000;
const INPUT = `printf '%s\\n' ${IDS.join(' ')}`;

let service: FakeService;
/** How often the signers of each envelope were emailed. */
const emails = new Map<string, number>();
/** This many writes are answered immediately, the others once the pipe is closed. */
let free = 0;

/** A page of a list that is far longer than a pipe holds. Creates find nothing of theirs in it. */
function pageOf(page: number) {
  const data = Array.from({ length: 100 }, (_, i) => ({
    id: `env_${page}_${i}`,
    status: 'SENT',
    subject: 'x'.repeat(40),
    metadata: {},
    signers: [],
  }));
  return { data, meta: { pagination: { page, pageSize: 100, total: LISTED, totalPages: LISTED / 100 } } };
}

async function openedForStatus({ method, path, query, body }: SeenRequest): Promise<[number, unknown]> {
  const [, id, action] = /envelopes(?:\/(\w+))?(?:\/(\w+))?$/.exec(path) ?? [];
  if (path.includes('/templates')) return [200, { data: { id: 'tmpl_1', name: 'NDA', fields: [] } }];
  if (method === 'GET' && id === undefined) return [200, pageOf(Number(query.get('page')))];
  if (method === 'GET') return [200, { data: { id, status: 'SENT', signers: [] } }];
  if (free-- <= 0) while (!existsSync(closed)) await sleep(5);
  const wanted = parseJson(body || '{}');
  const made = isRecord(wanted) && id === undefined ? { ...wanted, id: 'env_new' } : { id };
  emails.set(made.id ?? '', (emails.get(made.id ?? '') ?? 0) + 1);
  return [action === undefined ? 201 : 200, { data: { signers: [], ...made, status: 'SENT' } }];
}

beforeAll(async () => {
  service = await fakeService((request, response) => {
    void openedForStatus(request).then((answer) => json(response, ...answer));
  });
});
beforeEach(async () => {
  emails.clear();
  free = 0;
  // The state contains when each envelope was last reminded.
  for (const path of [closed, home.path('state')]) await rm(path, { recursive: true, force: true });
});

const shell = (line: string, env = service.env) => home.shell(line, env);

function errorIn(stderr: string): Record<string, unknown> {
  const last = parseJson(linesOf(stderr).at(-1) ?? '');
  if (!isRecord(last) || !isRecord(last.error)) throw new Error(`no error in ${stderr}`);
  return last.error;
}

describe('a command that writes, when the reader of stdout goes away', () => {
  it('starts nothing new, finishes what is in progress, and shows how to continue', async () => {
    free = 1;
    const run = await shell(`${INPUT} | esign envelopes remind - --yes --json | ${HEAD}; ${CODES}`);
    const [first, codes] = linesOf(run.stdout);
    expect(codes).toBe('exit codes 0 10 0');
    const results = jsonLines(run.stderr).slice(0, -1);
    const reported = [parseJson(first ?? ''), ...results].map((line) => isRecord(line) && line.ok && line.id);
    expect(reported).toEqual([...emails.keys()].sort());
    expect(reported.length).toBeLessThan(IDS.length);
    const { code, exitCode, hint } = errorIn(run.stderr);
    expect([code, exitCode]).toEqual(['OUTPUT_CLOSED', 10]);
    const [, rest] = /`(esign .*)`/.exec(String(hint)) ?? [];
    expect((await shell(String(rest))).code).toBe(0);
    expect(emails).toEqual(new Map(IDS.map((id) => [id, 1])));
  });

  it.each(['-q', '--json', ''])('reports on stderr what it created: create --send %s', async (flag) => {
    const create = `esign envelopes create --template tmpl_1 --signer 'Ada <ada@example.com>' --send ${flag}`;
    const run = await shell(`${create} | ${CLOSE}; ${CODES}`);
    expect([run.stdout, emails.get('env_new')]).toEqual(['exit codes 10 0\n', 1]);
    expect(run.stderr).toContain('env_new');
  });

  it('leaves a bulk run that can be resumed', async () => {
    const { baseUrl, apiKey, stop } = await home.sandbox([], { hasProfile: false });
    const env = { ESIGN_BASE_URL: baseUrl, ESIGN_API_KEY: apiKey };
    const rows = Array.from({ length: 80 }, (_, i) => `p${i}@example.com,Person ${i}`);
    await writeFile(home.path('rows.csv'), `email,name\n${rows.join('\n')}\n`);
    const create = 'esign bulk create rows.csv --template tmpl_nda --send --yes --json';
    const run = await shell(`${create} --allow-missing-roles | ${HEAD}; ${CODES}`, env);
    expect([run.stdout.split('\n')[1], errorIn(run.stderr).code]).toEqual([
      'exit codes 10 0',
      'OUTPUT_CLOSED',
    ]);
    expect(jsonLines(run.stderr).every(isRecord)).toBe(true);
    const [, resume] = /`(esign bulk resume [^`]+)`/.exec(run.stderr) ?? [];
    expect((await shell(resume ?? '', env)).code).toBe(0);
    const mails = parseJson((await shell('esign sandbox mails --json', env)).stdout);
    const to = Array.isArray(mails) ? mails.map((mail: unknown) => isRecord(mail) && String(mail.to)) : [];
    expect(new Set(to).size).toBe(rows.length);
    expect(to).toHaveLength(rows.length);
    await stop();
  });
});

describe('a command that only reads', () => {
  it.each([
    ['-q', 'wc -l', '20000'],
    [
      '--json',
      `"${process.execPath}" -p 'JSON.parse(require("node:fs").readFileSync(0, "utf8")).length'`,
      '20000',
    ],
  ])('delivers every line of %s to a slow reader', async (format, reader, count) => {
    const run = await shell(`esign envelopes list -L 20000 ${format} | (sleep 1; ${reader}); ${CODES}`);
    expect(linesOf(run.stdout).map((line) => line.trim())).toEqual([count, 'exit codes 0 0']);
  });

  it('stops reading when the pipe closes', async () => {
    const before = service.server.seen.length;
    const run = await shell(`esign envelopes list --all --json | head -1; ${CODES}`);
    expect([run.stdout, run.stderr]).toEqual(['[\nexit codes 0 0\n', '']);
    expect(service.server.seen.length - before).toBeLessThan(LISTED / 100 / 2);
  });
});

describe('a command that only reads, when the reader of stdout goes away', () => {
  it.each([
    'envelopes get - --json',
    'api GET /esign/templates/tmpl_1',
    'envelopes send - --dry-run --yes --json',
  ])('exits 0 and reports nothing: %s', async (command) => {
    // The pipe is closed before the command begins.
    const late = `while [ ! -e ${closed} ]; do sleep 0.01; done`;
    const run = await shell(`{ ${late}; ${INPUT} | esign ${command}; } | ${CLOSE}; ${CODES}`);
    expect([run.stdout, run.stderr]).toEqual(['exit codes 0 0\n', '']);
  });
});

describe('a closed stderr', () => {
  it('has no other effect', async () => {
    const remind = 'esign envelopes remind - --yes --debug';
    const run = await shell(`${INPUT} | ${remind} 2> >(exec <&-; touch ${closed}); ${CODES}`);
    expect(linesOf(run.stdout).at(-1)).toBe('exit codes 0 0');
    expect(emails).toEqual(new Map(IDS.map((id) => [id, 1])));
  });
});

describe('listen', () => {
  const post = (url: string) =>
    fetch(url, { method: 'POST', body: '{"event":"envelope.sent","data":{"envelope":{"id":"env_1"}}}' });
  const listen = 'esign listen --no-verify --port 0 --json';
  const urlIn = async (file: string) => {
    const ready = await eventually(async () =>
      parseJson(linesOf(await readFile(home.path(file), 'utf8'))[0] ?? ''),
    );
    return isRecord(ready) ? String(ready.url) : '';
  };

  it('continues when the reader of stderr goes away', async () => {
    // Its address is printed on stderr, so the test must choose the port.
    const { origin, close } = await startServer(() => undefined);
    await close();
    const program = `${COMMAND.join(' ')} listen --no-verify --path / --port ${new URL(origin).port}`;
    const ended = shell(`(exec ${program} > lines 2> >(exec <&-; touch ${closed})) & echo $! > pid; wait $!`);
    await eventually(() => expect(existsSync(closed)).toBe(true));
    const statuses = [];
    statuses.push((await eventually(() => post(origin))).status);
    statuses.push((await post(origin)).status);
    expect(statuses).toEqual([200, 200]);
    process.kill(Number(await readFile(home.path('pid'), 'utf8')));
    expect((await ended).code).toBe(143);
  });

  it('exits with 1 when the reader of stdout goes away', async () => {
    const ended = shell(`${listen} | { head -1 > first; exec <&-; touch ${closed}; }; ${CODES}`);
    await eventually(() => expect(existsSync(closed)).toBe(true));
    expect((await post(await urlIn('first'))).status).toBe(200);
    const run = await ended;
    expect(run.stdout).toBe('exit codes 1 0\n');
    expect(errorIn(run.stderr)).toMatchObject({ code: 'OUTPUT', exitCode: 1 });
  });
});
