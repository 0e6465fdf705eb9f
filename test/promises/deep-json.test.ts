import { beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { Home, jsonLines } from '../support/cli.ts';
import { type FakeService, fakeService } from '../support/fake-service.ts';

/** Lists and objects, nested this deep. */
const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;
const RUN = 'run-20261121-093012345-4f2a';
const envelope = (id: string, metadata: string) =>
  `{"id":"${id}","status":"SENT","subject":"Lease","createdAt":"2026-01-02T03:04:05Z","sentAt":"2026-01-02T03:04:05Z",` +
  `"templateId":"tmpl_1","signers":[{"id":"s","email":"ada@x.org","name":"Ada","status":"PENDING"}],"metadata":{"deal":"7","esignRun":"${RUN}","esignRow":"1","deep":${metadata}}}`;
const bareItem = (id: string) => `{"id":"${id}","status":"SENT","createdAt":"2026-01-02T03:04:05Z"}`;

const home = new Home();
let service: FakeService;
/** Whether the list shows only the IDs and statuses, so that each envelope must be read. */
let isBare = false;

beforeAll(async () => {
  service = await fakeService(({ path }, response) => {
    response.writeHead(path.endsWith('env_error') ? 422 : 200, { 'content-type': 'application/json' });
    if (path.endsWith('env_error'))
      return response.end(
        `{"error":{"code":"VALIDATION_ERROR","message":"no","details":{"a":${nested(6_000)}}}}`,
      );
    const one = /env_\w+$/.exec(path)?.[0];
    if (one !== undefined)
      return response.end(`{"data":${envelope(one, nested(one === 'env_deep' ? 6_000 : 10))}}`);
    const items = [
      envelope('env_1', nested(10)),
      envelope('env_deep', nested(6_000)),
      envelope('env_3', '1'),
    ];
    if (isBare) items.splice(0, 3, ...['env_1', 'env_deep', 'env_3'].map(bareItem));
    return response.end(`{"data":[${items.join(',')}],"meta":{"pagination":{"total":3,"totalPages":1}}}`);
  });
});

const run = (words: string) => home.run(words.split(' '), { env: service.env });

describe('an envelope whose metadata is nested very deeply', () => {
  it('is refused by a read of this envelope', async () => {
    const { code, stderr } = await run('envelopes get env_deep --json');
    expect([code, jsonLines(stderr)]).toMatchObject([8, [{ error: { code: 'BAD_RESPONSE', exitCode: 8 } }]]);
    expect((await run('envelopes get env_1')).code).toBe(0);
  });

  it('fails only that one of several', async () => {
    const { code, stdout } = await run('envelopes get env_1 env_deep env_3 --json');
    expect([code, jsonLines(stdout)]).toMatchObject([
      10,
      [{ id: 'env_1' }, { id: 'env_deep', error: { code: 'BAD_RESPONSE' } }, { id: 'env_3' }],
    ]);
  });

  it.each(['env_deep', 'env_1 env_deep env_3'])('is watched: %s', async (ids) => {
    const { code, stdout } = await run(`watch ${ids} --until SENT --json`);
    const lines = jsonLines(stdout).filter(isRecord);
    expect([code, lines.map(({ envelopeId }) => envelopeId)]).toEqual([0, ids.split(' ')]);
  });

  it.each([
    ['envelopes list', 'id'],
    ['find lease', 'id'],
    ['find 7', 'id'],
    ['late', 'envelopeId'],
    [`bulk status ${RUN}`, 'envelopeId'],
    ['report', undefined],
  ])('does not fail %s', async (words, id) => {
    for (isBare of [true, false]) {
      const { code, stdout } = await run(`${words} --json`);
      const items = jsonLines(stdout.replaceAll('\n', '')).flat().filter(isRecord);
      expect(code, words).toBe(0);
      if (id !== undefined)
        expect(items.map((item) => item[id]).toSorted()).toEqual(['env_1', 'env_3', 'env_deep']);
    }
    expect((await run(words)).code).toBe(0);
  });

  it('is in lists, with its other fields', async () => {
    const { stdout } = await run('envelopes list --json');
    const ids = jsonLines(stdout.replaceAll('\n', '')).flat().filter(isRecord);
    expect(ids.map(({ id, metadata }) => [id, isRecord(metadata) && metadata.deal])).toEqual([
      ['env_1', '7'],
      ['env_deep', '7'],
      ['env_3', '7'],
    ]);
    const { stdout: named } = await run('envelopes list --metadata deal=7 -q');
    expect(named.trim().split('\n').sort()).toEqual(['env_1', 'env_3', 'env_deep']);
    expect((await run('api GET /esign/envelopes --paginate')).code).toBe(0);
  });
});

it('an error with deep details keeps its code', async () => {
  const { code, stderr } = await run('envelopes get env_error --json');
  expect([code, jsonLines(stderr)]).toMatchObject([6, [{ error: { code: 'VALIDATION_ERROR' } }]]);
});
