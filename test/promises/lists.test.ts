import type { ServerResponse } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, linesOf } from '../support/cli.ts';
import { answerPage, type FakeService, fakeService } from '../support/fake-service.ts';
import { json, type SeenRequest } from '../support/server.ts';

const home = new Home();
let service: FakeService;

/** The items of the service, by the first part of the base URL's path. */
const strange = {
  unknownFirst: { deep: [1, null, 'ü'] },
  id: 'env_strange',
  status: 'ON_HOLD',
  subject: 'tab\there, line\nbreak, \u001b[31mred\u001b[0m',
  templateName: '=HYPERLINK("http://evil")',
  signers: [
    { email: 'ada@example.com', name: 'Ada', status: 'DELIVERED', extra: 7 },
    { email: 'bo@example.com' },
  ],
  createdAt: '2026-01-02T03:04:05.000Z',
  price: 12.5,
};
const plain = (index: number) => ({
  id: `env_${index}`,
  status: index % 2 === 0 ? 'SENT' : 'DRAFT',
  templateId: index < 5 ? 'tmpl_a' : 'tmpl_b',
  signers: [{ email: `s${index}@example.com` }],
  createdAt: new Date(Date.UTC(2026, 0, 1 + index)).toISOString(),
});
/** Items without signers, which the document allows. */
const summary = (index: number) => ({
  id: `env_${index}`,
  status: 'SENT',
  createdAt: '2026-01-02T03:04:05Z',
});

type Answer = (request: SeenRequest, response: ServerResponse) => void;
const pages =
  (count: number, item: (index: number) => unknown): Answer =>
  (request, response) =>
    answerPage(request, response, count, item);
const WORLDS: Readonly<Record<string, Answer>> = {
  many: pages(45, plain),
  exact: pages(20, plain),
  empty: pages(0, plain),
  strange: pages(1, () => strange),
  summaries: pages(3, summary),
  gone: pages(3, summary),
  broken: (request, response) =>
    request.query.get('page') === '1'
      ? answerPage(request, response, 200, plain)
      : json(response, 400, { error: { code: 'ODD', message: 'no second page' } }),
};

beforeAll(async () => {
  service = await fakeService((request, response) => {
    const [, world = '', ...rest] = request.path.split('/');
    const one = rest[3];
    if (`${world}/${one}` === 'gone/env_1')
      return json(response, 404, { error: { code: 'NOT_FOUND', message: 'Envelope not found' } });
    if (one !== undefined)
      return json(response, 200, { data: { ...summary(0), ...plain(Number(one.slice(4))) } });
    WORLDS[world]?.(request, response);
  });
});

const at = (world: string) => ({ ...service.env, ESIGN_BASE_URL: `${service.server.origin}/${world}/v1` });
const list = (world: string, ...args: string[]) => home.run(argv`envelopes list ${args}`, { env: at(world) });
/** The requests of a run. */
async function requestsOf<T>(run: Promise<T>) {
  const before = service.server.seen.length;
  const result = await run;
  return { result, requests: service.server.seen.slice(before) };
}

describe('a list', () => {
  it('is one bare JSON array as the service sent it: unknown fields, their order, exact text', async () => {
    const { stdout, stderr, code } = await list('strange', '--json');
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.stringify(parseJson(stdout))).toBe(JSON.stringify([strange]));
    expect(stdout).not.toContain('\u001b');
    const none = await list('empty', '--json');
    expect(parseJson(none.stdout)).toEqual([]);
    expect(none.code).toBe(0);
  });

  it("is tab-separated without a header in a pipe, and can't affect a terminal", async () => {
    const [all, fields] = [
      await list('strange'),
      await list('strange', '--fields', 'id,status,signers.0.email,signers.1.name,subject,price'),
    ];
    expect(linesOf(all.stdout)).toHaveLength(1);
    expect(all.stdout.split('\t').slice(0, 2)).toEqual(['env_strange', 'ON_HOLD']);
    const cells = fields.stdout.trimEnd().split('\t');
    expect(cells.slice(0, 4)).toEqual(['env_strange', 'ON_HOLD', 'ada@example.com', '']);
    expect(cells).toHaveLength(6);
    expect(cells[4]).toContain('␛[31mred');
    expect(all.stdout + fields.stdout).not.toMatch(/\u001b/);
  });

  it('is CSV with a header in which no spreadsheet runs formulas', async () => {
    const [filled, empty] = [
      await list('strange', '--csv', '--fields', 'id,templateName,subject'),
      await list('empty', '--csv', '--fields', 'id,status'),
    ];
    expect(filled.stdout).toMatch(/^id,templateName,subject\nenv_strange,/);
    expect(filled.stdout).not.toMatch(/(^|,|")=HYPERLINK/m);
    expect(filled.stdout).toContain('"tab');
    expect(empty.stdout).toBe('id,status\n');
  });

  it('contains only IDs with -q, and the selected fields as JSON', async () => {
    const [ids, picked] = [
      await list('strange', '-q'),
      await list('strange', '--json', '--fields', 'id,signers.0.email,missing'),
    ];
    expect(ids.stdout).toBe('env_strange\n');
    expect(parseJson(picked.stdout)).toEqual([
      { id: 'env_strange', 'signers.0.email': 'ada@example.com', missing: null },
    ]);
  });

  it('stops after 20 with a notice of the total; with -q, it has all IDs unless a limit is set', async () => {
    const [more, exact, few, all, ids, array] = [
      await list('many'),
      await list('exact'),
      await list('many', '-L', '7'),
      await list('many', '--all'),
      await list('many', '-q'),
      await list('many', '--json'),
    ];
    expect([more, exact, few, all, ids].map((one) => linesOf(one.stdout).length)).toEqual([
      20, 20, 7, 45, 45,
    ]);
    expect(parseJson(array.stdout)).toHaveLength(20);
    expect(more.stderr).toMatch(/^Showing 20 of 45\. .*--all .*-L .*\n$/);
    expect([exact, few, all, ids, array].map((one) => one.stderr).join('')).toBe('');
  });

  it('reports no total if it filters locally', async () => {
    const { stderr } = await list('many', '--since', '2026-01-02');
    expect(stderr).toMatch(/^Showing the first 20; .*--all .*-L .*\n$/);
  });

  it('prints no ID with -q if it cannot be read to its end', async () => {
    expect(await list('broken', '-q')).toMatchObject({ code: 1, stdout: '' });
    expect(linesOf((await list('broken', '-q', '-L', '3')).stdout)).toHaveLength(3);
  });

  it('reports unknown fields, with the known ones', async () => {
    const fields = await list('strange', '--fields', 'id,foo,signers.0.mail,signers.7.email,price');
    expect(fields.stderr).toContain('"foo", "signers.0.mail".');
    expect(fields.stderr).toContain(Object.keys(strange).join(', '));
    expect((await list('empty', '--fields', 'foo')).stderr).toBe('');
  });
});

describe('filters of envelopes list', () => {
  it('sends a single status to the service and filters the rest locally', async () => {
    const one = await requestsOf(list('many', '--status', 'draft', '-q', '--all'));
    expect(one.requests.map((request) => request.query.get('status'))).toEqual(['DRAFT']);
    const two = await requestsOf(list('many', '--status', 'DRAFT,CANCELLED', '-q', '--all'));
    expect(two.requests.map((request) => request.query.get('status'))).toEqual([null]);
    expect(linesOf(two.result.stdout)).toHaveLength(22);
  });

  it('combine template, time, and signer', async () => {
    const [template, since, older, signer, both] = [
      await list('many', '--template', 'tmpl_a', '-q'),
      await list('many', '--since', '2026-02-10', '-q'),
      await list('many', '--older-than', '2026-01-03', '-q'),
      await list('many', '--signer', 'S44@', '--fields', 'id'),
      await list('many', '--template', 'tmpl_a', '--status', 'SENT,EXPIRED', '-q'),
    ];
    expect(linesOf(template.stdout)).toEqual([0, 1, 2, 3, 4].map((i) => `env_${i}`));
    expect(linesOf(since.stdout)).toEqual([40, 41, 42, 43, 44].map((i) => `env_${i}`));
    expect(linesOf(older.stdout)).toEqual(['env_0', 'env_1', 'env_2']);
    expect(signer.stdout).toBe('env_44\n');
    expect(linesOf(both.stdout)).toEqual(['env_0', 'env_2', 'env_4']);
  });

  it('fetch items without signers only if a filter or a column needs them', async () => {
    const gets = (requests: { path: string }[]) =>
      requests.filter(({ path }) => /env_\d+$/.test(path)).length;
    const quiet = await requestsOf(list('summaries', '-q'));
    const asSent = await requestsOf(list('summaries', '--json'));
    const without = await requestsOf(list('summaries', '--fields', 'id,status'));
    const shown = await requestsOf(list('summaries'));
    const wanted = await requestsOf(list('summaries', '--signer', 's1@', '-q'));
    const runs = [quiet, asSent, without, shown, wanted];
    expect(runs.map(({ requests }) => gets(requests))).toEqual([0, 0, 0, 3, 3]);
    expect(parseJson(asSent.result.stdout)).toEqual([0, 1, 2].map(summary));
    expect(shown.result.stdout).toContain('s2@example.com');
    expect(wanted.result.stdout).toBe('env_1\n');
  });

  it("show a deleted item as listed, and don't suggest its own ID for it", async () => {
    const [shown, found, one] = [
      await list('gone', '--fields', 'id,status,signers.0.email'),
      await home.run(argv`find s2 -q`, { env: { ...at('gone'), ESIGN_NO_INDEX: '1' } }),
      await home.run(argv`envelopes get env_1`, { env: at('gone') }),
    ];
    expect(shown.stdout).toBe('env_0\tSENT\ts0@example.com\nenv_1\tSENT\t\nenv_2\tSENT\ts2@example.com\n');
    expect([shown.code, found.stdout, found.code]).toEqual([0, 'env_2\n', 0]);
    expect([one.code, one.stderr]).toEqual([4, expect.not.stringMatching(/mean\b.* env_1\b/)]);
  });
});
