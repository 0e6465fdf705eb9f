import { readFile, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, jsonLines, linesOf, reportedError } from '../support/cli.ts';
import { fakeService } from '../support/fake-service.ts';
import { json } from '../support/server.ts';

const home = new Home();
beforeAll(async () => {
  await home.sandbox();
});

/** A sent envelope for Ada, and for Bo if two are requested. */
async function sent(...more: string[]): Promise<string> {
  const args = ['--template', 'tmpl_nda', '--signer', 'Ada <ada@example.com>', ...more, '--send'];
  return String((await home.object`envelopes create ${args}`).id);
}

describe('envelopes watch', () => {
  it('prints a line per change, each with the envelope, and exits with 0 on completion', async () => {
    const id = await sent('--signer', 'Bo <bo@example.com>');
    const watching = home.background`envelopes watch ${id} --interval 200ms --json`;
    const first = await watching.object();
    expect(Object.keys(first)).toEqual(['at', 'envelopeId', 'from', 'to', 'signer', 'envelope']);
    expect(first).toMatchObject({ envelopeId: id, from: null, to: 'SENT', signer: null, envelope: { id } });
    expect(Date.parse(String(first.at))).toBeGreaterThan(Date.UTC(2020, 0));
    await home.run`sandbox sign ${id} --signer ada@example.com`;
    expect(await watching.object()).toMatchObject({
      from: 'SENT',
      to: 'IN_PROGRESS',
      signer: 'ada@example.com',
    });
    await home.run`sandbox sign ${id}`;
    expect(await watching.object()).toMatchObject({
      from: 'IN_PROGRESS',
      to: 'COMPLETED',
      signer: 'bo@example.com',
      envelope: { status: 'COMPLETED', signers: [{ status: 'SIGNED' }, { status: 'SIGNED' }] },
    });
    expect(await watching.ended).toEqual({ code: 0, signal: null });
    expect(await watching.stderr).toBe('');
    const over = await home.run`envelopes watch ${id}`;
    expect(over.stdout).toMatch(new RegExp(`^\\S+\\t${id}\\t\\tCOMPLETED\\t\\n$`));
    expect(over.code).toBe(0);
  });

  it('waits for each of several envelopes, and for the requested status', async () => {
    const [a, b] = [await sent('--signer', 'Bo <bo@example.com>'), await sent()];
    const watching = home.background`envelopes watch - --until in_progress,COMPLETED --json`;
    watching.child.stdin?.end(`${a}\n${b}\n`);
    const seen = [await watching.object(), await watching.object()];
    expect(seen.map((one) => one.envelopeId)).toEqual([a, b]);
    await Promise.all([home.run`sandbox sign ${a}`, home.run`sandbox sign ${b}`]);
    const ends = [await watching.object(), await watching.object()];
    expect(new Map(ends.map((one) => [one.envelopeId, one.to]))).toEqual(
      new Map([
        [a, 'IN_PROGRESS'],
        [b, 'COMPLETED'],
      ]),
    );
    expect(await watching.ended).toEqual({ code: 0, signal: null });
  });

  it('exits with 11 if one ended in another status, with the reason in the envelope', async () => {
    const [declined, cancelled] = [await sent(), await sent()];
    [
      await home.run`sandbox decline ${declined} --reason 'the rent is wrong'`,
      await home.run`envelopes cancel ${cancelled}`,
    ];
    const [words, lines, wanted] = await Promise.all([
      home.run`envelopes watch ${declined}`,
      home.run`envelopes watch ${declined} ${cancelled} --json`,
      home.run`envelopes watch ${cancelled} --until CANCELLED`,
    ]);
    expect([words.code, lines.code, wanted.code]).toEqual([11, 11, 0]);
    expect(words.stdout).toMatch(new RegExp(`\\t${declined}\\t\\tDECLINED\\t\\n$`));
    expect(jsonLines(lines.stdout)).toMatchObject([
      { to: 'DECLINED', envelope: { signers: [{ declineReason: 'the rent is wrong' }] } },
      { to: 'CANCELLED' },
    ]);
    expect(jsonLines(lines.stderr)).toMatchObject([{ error: { code: 'UNEXPECTED_STATUS', exitCode: 11 } }]);
  });

  it('exits with 124 on timeout, and names the command that continues', async () => {
    const id = await sent();
    const late = await home.run`envelopes watch ${id} --timeout 1s --json`;
    expect([late.code, jsonLines(late.stdout).length]).toEqual([124, 1]);
    const next = [`esign envelopes watch ${id} --timeout 1s --json`];
    expect(jsonLines(late.stderr)).toMatchObject([{ error: { code: 'WAIT_TIMEOUT', exitCode: 124, next } }]);
    const piped = await home.run(argv`envelopes watch - --timeout 1s --json`, { input: id });
    expect(jsonLines(piped.stderr)).toMatchObject([{ error: { next } }]);
  });

  it('runs a command for each envelope that reaches an awaited status, with the change on its stdin', async () => {
    const [done, other] = [await sent(), await sent()];
    await home.run`sandbox sign ${done}`;
    await home.run`envelopes cancel ${other}`;
    const exec = 'cat > $ESIGN_ENVELOPE_ID.json; test $ESIGN_STATUS = COMPLETED';
    const watched = await home.run(['envelopes', 'watch', done, other, '--exec', exec]);
    expect(watched.code).toBe(11);
    expect(parseJson(await readFile(home.path(`${done}.json`), 'utf8'))).toMatchObject({
      envelopeId: done,
      to: 'COMPLETED',
    });
    await expect(readFile(home.path(`${other}.json`))).rejects.toThrow('ENOENT');
    expect((await home.run(['envelopes', 'watch', done, '--exec', 'exit 3'])).code).toBe(10);
  });

  it('watches the envelopes of a run to their end, and follows replaced ones', async () => {
    await writeFile(home.path('run.csv'), 'email,name\nr1@example.com,R1\nr2@example.com,R2\n');
    await home.run`bulk create run.csv --template tmpl_nda --send --yes`;
    const listed = await home.run`envelopes list --run last --all -q`;
    const [first = '', second = ''] = linesOf(listed.stdout);
    const replaced = await home.object`envelopes replace ${second} --subject New --yes`;
    const made = isRecord(replaced.new) ? String(replaced.new.id) : '';
    for (const id of [first, made]) await home.run`sandbox sign ${id}`;
    const { code, stdout } = await home.run`envelopes watch --run last --json`;
    const watched = jsonLines(stdout).filter(isRecord);
    expect([code, watched.map(({ envelopeId }) => envelopeId).sort()]).toEqual([0, [first, made].sort()]);
  });

  it("doesn't wait for missing envelopes", async () => {
    const unknown = await home.run`envelopes watch env_missing --json`;
    expect(unknown.code).toBe(4);
    expect(reportedError(unknown)).toMatchObject({ code: 'NOT_FOUND', exitCode: 4 });
    const none = await home.run`envelopes watch --json`;
    expect([none.code, reportedError(none).code]).toEqual([2, 'USAGE']);
  });
});

describe('a watch', () => {
  it('handles an outage, an unknown status, and a stale response', async () => {
    const states = ['SENT', 'down', 'ON_HOLD', 'SENT', 'COMPLETED'];
    const { env } = await fakeService((_, response, number) => {
      const status = states[Math.min(number, states.length) - 1];
      if (status === 'down') return json(response, 400, { error: { code: 'MAINTENANCE', message: 'soon' } });
      json(response, 200, { data: { id: 'env_1', status } });
    });
    const failed = await home.run(argv`envelopes watch env_1 --interval 200ms --json`, { env });
    // A refusal is not an outage: it is reported.
    expect(failed.code).toBe(1);
    expect(jsonLines(failed.stderr)).toMatchObject([{ error: { code: 'MAINTENANCE', exitCode: 1 } }]);
    const on = await home.run(argv`envelopes watch env_1 --interval 200ms --json`, { env });
    expect(on.code).toBe(0);
    expect(jsonLines(on.stdout)).toMatchObject([
      { from: null, to: 'ON_HOLD' },
      { to: 'SENT' },
      { to: 'COMPLETED' },
    ]);
  });

  it('survives a temporary outage', async () => {
    const { env } = await fakeService((_, response, number) => {
      if (number > 1 && number < 9) return void response.writeHead(503).end();
      json(response, 200, { data: { id: 'env_1', status: number === 1 ? 'SENT' : 'COMPLETED' } });
    });
    const { code, stdout, stderr } = await home.run(argv`envelopes watch env_1 --interval 200ms`, {
      env,
    });
    expect(code).toBe(0);
    expect(stdout.split('\n')).toHaveLength(3);
    expect(stderr).toContain('503');
    expect(stderr).toContain('responding again');
  });
});

describe('with a listener on this machine', () => {
  it('wakes a watch with a webhook although its next poll is in an hour', async () => {
    await writeFile(home.path('secret'), 'whsec_0123456789abcdef\n');
    const listen = home.background`listen --port 0 --json --secret-file secret`;
    const { url } = await listen.object();
    const own = ['--webhook-url', String(url), '--webhook-secret-file', 'secret'];
    const created = await home.object([
      ...['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'woken@example.com', '--send'],
      ...own,
    ]);
    const id = String(created.id);
    const watch = home.background`envelopes watch ${id} --json --interval 1h --timeout 100s`;
    expect(await watch.object()).toMatchObject({ from: null, to: 'SENT' });
    await home.run`sandbox sign ${id}`;
    expect(await watch.object()).toMatchObject({ envelopeId: id, to: 'COMPLETED' });
    expect((await watch.ended).code).toBe(0);
    await listen.stop();
  });
});
