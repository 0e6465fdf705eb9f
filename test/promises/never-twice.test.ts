import { beforeAll, describe, expect, it } from 'vitest';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, reportedError } from '../support/cli.ts';
import { fakeService } from '../support/fake-service.ts';
import { json, loseReply } from '../support/server.ts';

/* The API has no idempotency key, so a lost response must not lead to a second envelope or email. */
const home = new Home();
beforeAll(async () => {
  await home.sandbox();
});

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
  });
});

describe('a request ID', () => {
  it.each([
    ['in two processes', {}],
    ['on two machines', { ESIGN_STATE_DIR: home.pathLater('other-machine') }],
  ])('emails once at the same time %s', async (where, env) => {
    const deal = where.replaceAll(' ', '-');
    const args = create('--metadata', `case=${deal}`, '--request-id', deal, '--send', '--json');
    const runs = await Promise.all([home.run(args), home.run(args, { env })]);
    expect(runs.map(({ code }) => code)).toEqual([0, 0]);
    const [first, second] = runs.map(({ stdout }) => parseJson(stdout));
    if (!isRecord(first) || !isRecord(second)) throw new Error('no envelopes');
    expect([first.status, second.id]).toEqual(['SENT', first.id]);
    // What is left of the other draft is canceled.
    const all = await envelopes(deal);
    const others = isList(all) ? all.filter(isRecord).filter(({ id }) => id !== first.id) : [];
    expect(others.filter(({ status }) => status !== 'CANCELLED')).toEqual([]);
    const mails = await home.json`sandbox mails --json`;
    const asked = JSON.stringify(mails).split(String(first.id)).length - 1;
    expect(asked).toBeGreaterThan(0);
    for (const { id } of others) expect(JSON.stringify(mails)).not.toContain(id);
  });
});
