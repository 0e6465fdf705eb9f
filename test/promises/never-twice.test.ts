import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { type Finished, Home, jsonLines, reportedError } from '../support/cli.ts';
import { fakeService } from '../support/fake-service.ts';
import { json, loseReply } from '../support/server.ts';

/* The API has no idempotency key, so a lost response must not lead to a second envelope or email. */
const home = new Home();
beforeAll(async () => {
  await home.sandbox();
});
afterAll(() => home.close());

const create = (...args: string[]) => [
  'envelopes',
  'create',
  '--template',
  'tmpl_nda',
  '--signer',
  'Ada <ada@example.com>',
  ...args,
];
const faults = (set: unknown) => home.faults(set);
const envelopes = (search: string) => home.json`find ${search} --all`;

describe('a lost response', () => {
  it("finds the envelope and doesn't create it again after a create", async () => {
    await faults({ lostReply: { match: 'POST /esign/envelopes$', times: 1 } });
    const { code, stdout, stderr } = await home.run(create('--metadata', 'case=lost', '--json'));
    expect(code).toBe(0);
    expect(stderr).toContain('response was lost');
    const all = await envelopes('lost');
    expect(all).toEqual([parseJson(stdout)]);
  });

  it('exits with 8 if a create was never processed, and a rerun with the same request ID creates one', {
    tags: ['full'],
    timeout: 180_000,
  }, async () => {
    await faults({ html502: { match: 'POST /esign/envelopes$', times: 1 } });
    const args = create('--metadata', 'case=refused', '--request-id', 'deal-7', '--json');
    const first = await home.run(args);
    expect(first.code).toBe(8);
    expect(reportedError(first)).toMatchObject({ code: 'UNKNOWN_OUTCOME', exitCode: 8 });
    expect(String(reportedError(first).hint)).toContain('--request-id deal-7');
    const second = await home.run(args);
    const third = await home.run(args);
    expect([second.code, third.code]).toEqual([0, 0]);
    expect(third.stdout).toBe(second.stdout);
    expect(third.stderr).toContain('Nothing new was created');
    expect(await envelopes('refused')).toHaveLength(1);
  });

  it('resolves the outcome of send and cancel by reading the status', async () => {
    const id = String((await home.object(create())).id);
    await faults({ lostReply: { match: 'POST /esign/envelopes/', times: 1 } });
    const sent = await home.run`envelopes send ${id}`;
    expect([sent.code, sent.stdout]).toEqual([0, `${id}\tSENT\n`]);
    await faults({ truncate: { match: 'POST /esign/envelopes/', times: 1 } });
    const cancelled = await home.run`envelopes cancel ${id}`;
    expect([cancelled.code, cancelled.stdout]).toEqual([0, `${id}\tCANCELLED\n`]);
    await faults({});
  });

  it('exits with 8 after a remind, and never emails twice', async () => {
    const { server, env } = await fakeService((request, response) =>
      request.method === 'POST'
        ? loseReply(response)
        : json(response, 200, { data: { id: 'env_1', status: 'SENT', signers: [] } }),
    );
    const reminded = await home.run(argv`envelopes remind env_1 --json`, { env });
    expect(reminded.code).toBe(8);
    expect(reportedError(reminded)).toMatchObject({ code: 'UNKNOWN_OUTCOME', exitCode: 8 });
    expect(server.seen.filter((request) => request.method === 'POST')).toHaveLength(1);
    await server.close();
  });
});

describe('the responses of send, cancel, and remind in every documented form', () => {
  it.each(['success', 'empty204'])('cause no repetition: %s', async (form) => {
    await home.choose({ 'action-reply': form });
    const id = String((await home.object(create())).id);
    const runs: Finished[] = [];
    for (const action of ['send', 'remind', 'cancel'])
      runs.push(await home.run`envelopes ${action} ${id} --json`);
    expect(runs.map((one) => one.code)).toEqual([0, 0, 0]);
    expect(runs.map((one) => parseJson(one.stdout))).toMatchObject([
      { id, status: 'SENT', subject: 'Please sign: Confidentiality undertaking' },
      { id, status: 'SENT' },
      { id, status: 'CANCELLED' },
    ]);
    await home.choose({ 'action-reply': 'envelope' });
  });
});

describe('several envelopes', () => {
  it('are not changed without confirmation', async () => {
    const { server, env } = await fakeService((_, response) =>
      json(response, 200, { data: { id: 'env_1', status: 'SENT' } }),
    );
    const runs = await Promise.all(
      [
        ['send', 'env_1', 'env_2'],
        ['cancel', '-'],
        ['remind', '-', '--no-input'],
      ].map((args) => home.run(argv`envelopes ${args} --json`, { env, input: 'env_1\nenv_2\n' })),
    );
    for (const run of runs) {
      expect(run.code).toBe(2);
      expect(reportedError(run)).toMatchObject({ code: 'USAGE', exitCode: 2 });
      expect(String(reportedError(run).hint)).toContain('--yes');
    }
    expect(server.seen).toEqual([]);
    const dry = await home.run(argv`envelopes remind env_1 env_2 --dry-run --json`, { env });
    expect(jsonLines(dry.stdout)).toMatchObject([{ dryRun: true, id: 'env_1' }, { id: 'env_2' }]);
    expect(server.seen).toEqual([]);
    await server.close();
  });

  it('are all processed after confirmation; each is reported, and some failures exit with 10', async () => {
    const [a, b] = await Promise.all([home.object(create('--send')), home.object(create())]);
    const ids = [String(a.id), 'env_missing', String(b.id)];
    const [remind, cancel] = [
      await home.run`envelopes remind ${ids} --yes --json`,
      await home.run`envelopes cancel ${ids} --yes --reason changed`,
    ];
    expect([remind.code, cancel.code]).toEqual([10, 10]);
    expect(jsonLines(remind.stdout)).toMatchObject([
      { id: ids[0], ok: true, envelope: { status: 'SENT' } },
      { id: ids[1], ok: false, error: { code: 'NOT_FOUND', exitCode: 4 } },
      { id: ids[2], ok: false, error: { code: 'INVALID_STATE', exitCode: 5 } },
    ]);
    expect(jsonLines(remind.stderr)).toMatchObject([{ error: { code: 'PARTIAL', exitCode: 10 } }]);
    expect(cancel.stdout).toBe(`${ids[0]}\tCANCELLED\n${ids[2]}\tCANCELLED\n`);
    expect(cancel.stderr).toContain('env_missing');
  });
});

describe('a reminder', () => {
  it('goes to the given signer, and to nobody else', async () => {
    const id = String((await home.object(create('--signer', 'Bo <bo@example.com>', '--send'))).id);
    const [named, stranger] = await Promise.all([
      home.run`envelopes remind ${id} --signer BO@example.com`,
      home.run`envelopes remind ${id} --signer eve@example.com --json`,
    ]);
    expect(named.code).toBe(0);
    expect(stranger.code).toBe(2);
    expect(String(reportedError(stranger).hint)).toContain('ada@example.com, bo@example.com');
  });

  it('is not emailed to the same person twice within --min-gap', async () => {
    const id = String((await home.object(create('--send'))).id);
    expect((await home.run`envelopes remind ${id} --min-gap 1h`).code).toBe(0);
    const again = await home.run`envelopes remind ${id} --min-gap 1h`;
    expect([again.code, again.stdout]).not.toEqual([0, `${id}\tSENT\n`]);
    expect(again.stderr).toContain('ada@example.com');
    expect((await home.run`envelopes remind ${id} --min-gap 0s`).code).toBe(0);
  });
});
