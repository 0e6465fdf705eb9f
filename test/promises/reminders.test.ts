import { beforeAll, describe, expect, it } from 'vitest';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, jsonLines, reportedError } from '../support/cli.ts';
import { answerPage, fakeService } from '../support/fake-service.ts';
import { json, loseReply } from '../support/server.ts';

/* Reminders: who gets one, and who was reminded too recently. The service's clock decides, which `sandbox advance` moves. */
const home = new Home();
beforeAll(async () => {
  await home.sandbox();
});

let count = 0;
/** A sent envelope for Ada and Bo, with addresses that no other envelope has. */
async function sent(...flags: string[]) {
  const [ada, bo] = [`ada.${++count}@example.com`, `bo.${count}@example.com`];
  const signers = ['--signer', `Ada <${ada}>`, '--signer', `Bo <${bo}>`];
  const made = await home.object`envelopes create --template tmpl_nda ${signers} ${flags} --send`;
  const people = isList(made.signers) ? made.signers.filter(isRecord) : [];
  return { id: String(made.id), ada, bo, signerIds: people.map((one) => String(one.id)) };
}
/** How many reminders each of them has received. */
async function reminded({ ada, bo }: { ada: string; bo: string }): Promise<number[]> {
  const counts: number[] = [];
  for (const address of [ada, bo]) {
    const mails = await home.json`sandbox mails --to ${address}`;
    const own = isList(mails) ? mails.filter(isRecord) : [];
    counts.push(own.filter(({ kind }) => kind === 'reminder').length);
  }
  return counts;
}
const remind = (...args: string[]) => home.run`envelopes remind ${args} --json`;

describe('a reminder', () => {
  it('goes to the given signer, by address or ID, and to nobody else', async () => {
    const one = await sent();
    expect((await remind(one.id, '--signer', one.bo.toUpperCase())).code).toBe(0);
    expect(await reminded(one)).toEqual([0, 1]);
    expect((await remind(one.id, '--signer', one.signerIds[0] ?? '')).code).toBe(0);
    expect(await reminded(one)).toEqual([1, 1]);
    const stranger = await remind(one.id, '--signer', 'eve@example.com');
    expect([stranger.code, reportedError(stranger).hint]).toEqual([2, expect.stringContaining(one.ada)]);
    const empty = await remind(one.id, '--signer', '');
    expect(empty.code).toBe(2);
    expect(await reminded(one)).toEqual([1, 1]);
  });

  it('goes to the signers that lines on stdin name after the envelope', async () => {
    const [one, other, whole] = [await sent(), await sent(), await sent()];
    const lines = [
      `${one.id} ${one.signerIds[1]}`,
      ...other.signerIds.map((id) => `${other.id} ${id}`),
      whole.id,
    ];
    const run = await home.run(argv`envelopes remind - --yes --json`, { input: `${lines.join('\n')}\n` });
    expect([run.code, jsonLines(run.stdout)]).toMatchObject([
      0,
      [one, other, whole].map(({ id }) => ({ id, ok: true })),
    ]);
    expect([await reminded(one), await reminded(other), await reminded(whole)]).toEqual([
      [0, 1],
      [1, 1],
      [1, 1],
    ]);
  });

  it('leaves out named signers who have signed since they were listed, which is success', async () => {
    const [one, other, done] = [await sent(), await sent(), await sent()];
    const lines = [one, other, done].flatMap(({ id, signerIds }) =>
      signerIds.map((signer) => `${id} ${signer}`),
    );
    for (const { id, ada } of [one, done]) await home.run`sandbox sign ${id} --signer ${ada}`;
    await home.run`sandbox sign ${done.id} --signer ${done.bo}`;
    const input = `${lines.join('\n')}\n`;
    const run = await home.run(argv`envelopes remind - --yes --json`, { input });
    expect([run.code, ...jsonLines(run.stdout)]).toMatchObject([
      0,
      { id: one.id, ok: true, envelope: {} },
      { id: other.id, ok: true, envelope: {} },
      { id: done.id, ok: true, skipped: 'NOT_PENDING' },
    ]);
    expect(run.stderr).toContain(`${one.ada} has already signed ${one.id}.`);
    expect(await reminded(one)).toEqual([0, 1]);
    const single = await remind(one.id, '--signer', one.ada);
    expect([single.code, ...jsonLines(single.stdout)]).toMatchObject([0, { skipped: 'NOT_PENDING' }]);
    // A misspelled address is not a signature.
    expect((await remind(done.id, '--signer', 'eve@example.com')).code).toBe(5);
    expect(await reminded(one)).toEqual([0, 1]);
  });

  it('that reaches only some of the signers names who was reminded, and reports no single outcome', async () => {
    const [ada, bo] = ['ada', 'bo'].map((name) => ({
      id: `s_${name}`,
      email: `${name}@b.c`,
      status: 'SENT',
    }));
    const envelope = { id: 'env_1', status: 'SENT', signers: [ada, bo] };
    const { env } = await fakeService(({ method, body }, response) => {
      if (method === 'POST' && body.includes('s_bo')) json(response, 403, { error: { code: 'FORBIDDEN' } });
      else json(response, 200, { data: envelope });
    });
    const run = await home.run(argv`envelopes remind - --yes --json`, {
      env,
      input: 'env_1 s_ada\nenv_1 s_bo\n',
    });
    expect([run.code, ...jsonLines(run.stdout)]).toMatchObject([
      10,
      {
        ok: false,
        error: {
          code: 'FORBIDDEN',
          outcome: 'unknown',
          message: expect.stringContaining('was sent to ada@b.c, but not to bo@b.c.') as unknown,
        },
      },
    ]);
  });

  it('is reported if there was one within the hour', async () => {
    const one = await sent();
    expect((await home.run`envelopes remind ${one.id}`).stderr).toBe('');
    expect((await home.run`envelopes remind ${one.id}`).stderr).toContain('was reminded');
  });
});

describe('--min-gap', () => {
  it('skips an envelope whose signers were reminded within the gap, which is success', async () => {
    const one = await sent();
    expect((await remind(one.id, '--min-gap', '2h')).code).toBe(0);
    const again = await remind(one.id, '--min-gap', '2h');
    expect([again.code, parseJson(again.stdout), again.stderr]).toEqual([
      0,
      { id: one.id, ok: true, skipped: 'REMINDED_RECENTLY' },
      '',
    ]);
    const text = await home.run`envelopes remind ${one.id} --min-gap 2h`;
    expect([text.code, text.stdout]).toEqual([0, `${one.id}\tREMINDED_RECENTLY\n`]);
    expect(text.stderr).toContain(one.ada);
    await home.run`sandbox advance 3h`;
    expect((await remind(one.id, '--min-gap', '2h')).code).toBe(0);
    expect(await reminded(one)).toEqual([2, 2]);
  });

  it('skips recently reminded signers among several envelopes, and counts them in the totals and the dry run', async () => {
    const [one, other] = [await sent(), await sent()];
    await remind(one.id);
    const ids = [one.id, other.id];
    const dry = await home.run`envelopes remind ${ids} --min-gap 2h --dry-run`;
    expect([dry.code, dry.stdout]).toEqual([0, `would remind ${other.id}\n`]);
    const run = await home.run`envelopes remind ${ids} --min-gap 2h --yes`;
    expect([run.code, run.stdout]).toEqual([0, `${one.id}\tREMINDED_RECENTLY\n${other.id}\tSENT\n`]);
    expect(run.stderr).toContain('1 reminded, 1 skipped.');
    const none = await home.run`envelopes remind ${ids} --min-gap 2h --yes --json`;
    expect([none.code, jsonLines(none.stdout)]).toMatchObject([
      0,
      ids.map((id) => ({ id, skipped: 'REMINDED_RECENTLY' })),
    ]);
  });

  it('reminds only the signer who was not reminded', async () => {
    const one = await sent();
    await remind(one.id, '--signer', one.ada);
    expect((await remind(one.id, '--min-gap', '2h')).code).toBe(0);
    expect(await reminded(one)).toEqual([1, 1]);
  });

  it('reminds nobody whose turn comes later, although the service would', async () => {
    const one = await sent('--signing-order', 'sequential');
    await remind(one.id, '--signer', one.ada);
    expect((await remind(one.id, '--min-gap', '2h')).code).toBe(0);
    expect(await reminded(one)).toEqual([1, 0]);
  });

  it('counts a lost reply as sent and a refusal as not sent', async () => {
    let answer: 'lost' | 'refused' | 'ok' = 'refused';
    const signers = [{ id: 'signer_1', email: 'ada@example.com', status: 'SENT' }];
    const envelope = { id: 'env_1', status: 'SENT', signers };
    const { server, env } = await fakeService((request, response) => {
      if (request.method === 'POST' && answer === 'lost') return loseReply(response);
      if (request.method === 'POST' && answer === 'refused')
        return json(response, 400, { error: { code: 'INVALID_STATE', message: 'no' } });
      if (request.path.endsWith('/envelopes')) return answerPage(request, response, 1, () => envelope);
      json(response, 200, { data: envelope });
    });
    const codes: (number | null)[] = [];
    const emails = () => server.seen.filter(({ method }) => method === 'POST').length;
    for (const next of ['refused', 'lost', 'ok'] as const) {
      answer = next;
      codes.push((await home.run(argv`envelopes remind env_1 --min-gap 1h --json`, { env })).code);
    }
    expect([codes, emails()]).toEqual([[5, 8, 0], 2]);
  });
});

describe('--at', () => {
  const STEPS = ['--at', '3d,7d,12d'];
  const signed = (one: { id: string }, address: string) =>
    home.run`sandbox sign ${one.id} --signer ${address}`;

  it('reminds once at each step, and once for several missed ones', async () => {
    const one = await sent();
    const silent = async () => {
      const { code, stdout, stderr } = await home.run`envelopes remind ${one.id} ${STEPS}`;
      expect([code, stdout, stderr]).toEqual([0, '', '']);
    };
    await home.run`sandbox advance 71h`;
    await silent();
    await home.run`sandbox advance 2h`;
    const dry = await home.run`envelopes remind ${one.id} ${STEPS} --dry-run`;
    expect(dry.stdout).toBe(`would remind ${one.id}\n`);
    expect((await remind(one.id, ...STEPS)).code).toBe(0);
    await silent();
    expect(await reminded(one)).toEqual([1, 1]);
    // Other steps in the past make no difference.
    expect((await remind(one.id, '--at', '1d,2d,3d')).stdout).toBe('');
    await home.run`sandbox advance 10d`;
    expect((await remind(one.id, ...STEPS)).code).toBe(0);
    await silent();
    expect(await reminded(one)).toEqual([2, 2]);
  });

  it('counts from the beginning of each turn, and from reminders since the step', async () => {
    const one = await sent('--signing-order', 'sequential');
    await home.run`sandbox advance 73h`;
    await remind(one.id, '--signer', one.ada);
    expect((await remind(one.id, ...STEPS)).stdout).toBe('');
    await signed(one, one.ada);
    await home.run`sandbox advance 71h`;
    expect((await remind(one.id, ...STEPS)).stdout).toBe('');
    await home.run`sandbox advance 2h`;
    await remind(one.id, ...STEPS);
    expect(await reminded(one)).toEqual([1, 1]);
    await signed(one, one.bo);
    const over = await remind(one.id, ...STEPS);
    expect([over.code, parseJson(over.stdout)]).toEqual([0, { id: one.id, ok: true, skipped: 'NOT_OPEN' }]);
  });

  it('works with IDs on stdin, with a run, and with all open envelopes', async () => {
    const [late, other] = [await sent(), await sent()];
    const rows = `email,name\nrow.${count}@example.com,Row\n`;
    await home.run(argv`bulk create - --template tmpl_nda --send --yes`, { input: rows });
    await home.run`sandbox advance 73h`;
    const inRun = await home.run`envelopes remind --run last ${STEPS} --yes --json`;
    expect([inRun.code, jsonLines(inRun.stdout)]).toMatchObject([0, [{ ok: true }]]);
    expect((await home.run`envelopes remind --run last ${STEPS}`).stdout).toBe('');
    const young = await sent();
    const lines = `${late.id} ${late.signerIds[1]}\n${young.id}\n`;
    const named = await home.run(argv`envelopes remind - ${STEPS} --yes --json`, { input: lines });
    expect([named.code, jsonLines(named.stdout)]).toMatchObject([0, [{ id: late.id, ok: true }]]);
    expect(await reminded(late)).toEqual([0, 1]);
    const all = await home.run`envelopes remind --all ${STEPS} --yes --json`;
    expect([all.code, jsonLines(all.stdout)]).toMatchObject([
      0,
      expect.arrayContaining(
        [late, other].map(({ id }) => expect.objectContaining({ id, ok: true }) as unknown),
      ),
    ]);
    expect([await reminded(late), await reminded(other), await reminded(young)]).toEqual([
      [1, 1],
      [1, 1],
      [0, 0],
    ]);
    const again = await home.run`envelopes remind --all ${STEPS}`;
    expect([again.code, again.stdout, again.stderr]).toEqual([0, '', '']);
  });

  it('counts a lost reply as sent, and a signer who signed meanwhile as not due', async () => {
    const sentAt = new Date(Date.now() - 4 * 86_400_000).toISOString();
    let status = 'SENT';
    const envelope = () => ({
      ...{ id: 'env_1', status: 'SENT', sentAt, signingOrder: 'PARALLEL' },
      signers: [{ id: 'signer_1', email: 'ada@example.com', status }],
    });
    const { server, env } = await fakeService((request, response) => {
      if (request.method === 'POST') return loseReply(response);
      // The list lags behind.
      if (request.path.endsWith('/envelopes'))
        return answerPage(request, response, 1, () => ({ ...envelope(), signers: [{ status: 'SENT' }] }));
      return json(response, 200, { data: envelope() });
    });
    const runs: (number | null)[] = [];
    for (let index = 0; index < 2; index++)
      runs.push((await home.run(argv`envelopes remind env_1 ${STEPS} --json`, { env })).code);
    status = 'SIGNED';
    runs.push((await home.run(argv`envelopes remind --all --at 1h --yes`, { env })).code);
    expect([runs, server.seen.filter(({ method }) => method === 'POST').length]).toEqual([[8, 0, 0], 1]);
  });

  it('waits with --weekdays from a Saturday until Monday, also in the dry run', async () => {
    const weekdays = new Home();
    const wednesday = new Date(2030, 4, 1, 9).toISOString();
    await weekdays.sandbox(['--clock', wednesday]);
    const flags = argv`--all --at 3d --weekdays`;
    const create = argv`envelopes create --template tmpl_nda --signer ada@example.com --send`;
    const { id } = await weekdays.object(create);
    const runs: string[] = [];
    for (const time of ['73h', '46h', '2h']) {
      await weekdays.run`sandbox advance ${time}`;
      for (const mode of ['--dry-run', '--yes', '--yes'])
        runs.push((await weekdays.run`envelopes remind ${flags} ${mode}`).stdout);
    }
    const silent = ['', '', ''];
    expect(runs).toEqual([...silent, ...silent, `would remind ${String(id)}\n`, `${String(id)}\tSENT\n`, '']);
    expect((await weekdays.run`envelopes remind --all --weekdays --yes`).code).toBe(2);
  });

  it.each(['', '3x', '3d,', '0d'])('refuses %j', async (steps) => {
    expect((await remind('env_1', '--at', steps)).code).toBe(2);
  });
});
