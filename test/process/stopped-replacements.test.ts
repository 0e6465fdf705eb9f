import { beforeAll, describe, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { Home, linesOf } from '../support/cli.ts';
import { leasesIn, part, RIGHT } from '../support/leases.ts';
import { requestsToSign } from '../support/mails.ts';
import { openCommand } from '../support/pty.ts';
import { type Relay, relayedSandbox } from '../support/relay.ts';

/* A replacement that is killed or stopped at any request: the same command completes it, and nobody is emailed twice. */
const home = new Home();
let relay: Relay;
beforeAll(async () => {
  relay = await relayedSandbox(home);
});

const { lease, get, madeFor } = leasesIn(home);
describe('an interrupted or concurrent replacement', () => {
  /**
   * Read the old one; search the list, and page 1 once more; template; look (the same two pages); create the draft; read the list twice, two
   * pages each; read the draft and the old one; cancel; send.
   */
  const POINTS = Array.from({ length: 15 }, (_, index) => index + 1).flatMap((number) => [
    [number, 'request'] as const,
    [number, 'answer'] as const,
  ]);
  const [CREATE, CANCEL, SEND] = [7, 14, 15];

  const completes = async (points: typeof POINTS) => {
    for (const [number, what] of points) {
      const id = await lease('--send');
      const args = ['envelopes', 'replace', id, '--signer', RIGHT, '--json'];
      relay.hold(number, what);
      const running = home.start(args);
      await Promise.race([
        relay.arrived(),
        running.ended.then(({ code }) => Promise.reject(new Error(`ended with ${code} before ${number}`))),
      ]);
      running.child.kill('SIGKILL');
      await running.ended;
      relay.open();
      const [between] = await Promise.all([get(id)]);
      const drafts = await madeFor(id);
      expect(
        drafts.filter(({ status }) => status === 'SENT').length + Number(between.status === 'SENT'),
      ).toBeLessThanOrEqual(1);
      if (between.status === 'CANCELLED') expect(drafts).toHaveLength(1);
      const again = await home.run(args);
      expect([number, what, again.code, again.stderr]).toEqual([number, what, 0, expect.any(String)]);
      const [made, ...others] = await madeFor(id);
      expect([(await get(id)).status, made?.status, others]).toEqual(['CANCELLED', 'SENT', []]);
      expect(await requestsToSign(relay.sandbox, String(made?.id))).toEqual({
        'ada@example.com': 1,
        'bo@example.com': 1,
      });
    }
  };
  const timeout = 600_000;
  it('is completed by the same command after kill -9 around the cancellation', { timeout }, () =>
    completes(POINTS.filter(([number]) => number === CANCEL)),
  );
  it(
    'is completed by the same command after kill -9 at each request and each response',
    {
      tags: ['full'],
      timeout,
    },
    () => completes(POINTS),
  );

  it('reports the state and the command that continues after Ctrl-C during the last step', async () => {
    const id = await lease('--send');
    relay.hold(CANCEL, 'answer');
    const running = home.start(argv`envelopes replace ${id} --signer ${RIGHT} --json`);
    await relay.arrived();
    running.child.kill('SIGTERM');
    expect((await running.ended).signal).toBe('SIGTERM');
    relay.open();
    const [made] = await madeFor(id);
    const error = part(linesOf(await running.stderr).at(-1) ?? '', 'error');
    expect(error).toMatchObject({ code: 'INTERRUPTED', outcome: 'unknown', exitCode: 143 });
    expect(error.message).toMatch(new RegExp(`^Stopped: ${String(made?.id)} .*draft.* ${id} .*cancell?ed`));
    const [, command = ''] = /`(esign .*?)`/.exec(String(error.hint)) ?? [];
    expect((await home.shell(command)).code).toBe(0);
    expect([(await madeFor(id)).map(({ status }) => status), (await get(id)).status]).toEqual([
      ['SENT'],
      'CANCELLED',
    ]);
  });

  it('reports an ID unchanged, even at the start of a sentence', { tags: ['full'] }, async () => {
    const id = await lease('--send');
    relay.hold(SEND, 'request');
    const running = home.start(argv`envelopes replace ${id} --signer ${RIGHT} --json`);
    await relay.arrived();
    await running.insist();
    relay.open();
    const error = part(linesOf(await running.stderr).at(-1) ?? '', 'error');
    expect(error).toMatchObject({ code: 'UNKNOWN_OUTCOME', exitCode: 143 });
    expect(error.message).toMatch(new RegExp(`(?:^|\\. )${id} .*cancell?ed.*env_`));
  });

  it('reports the command that continues immediately on a second signal', {
    tags: ['full'],
  }, async () => {
    const id = await lease('--send');
    relay.hold(CREATE, 'answer');
    const running = home.start(argv`envelopes replace ${id} --signer ${RIGHT} --json`);
    await relay.arrived();
    await running.insist();
    relay.open();
    const error = part(linesOf(await running.stderr).at(-1) ?? '', 'error');
    expect(error).toMatchObject({ code: 'UNKNOWN_OUTCOME', exitCode: 143 });
    const [, command = ''] = /`(esign .*?)`/.exec(String(error.hint)) ?? [];
    expect((await home.shell(command)).code).toBe(0);
    expect((await madeFor(id)).map(({ status }) => status)).toEqual(['SENT']);
  });
});

it('shows the plan on a terminal and asks', async () => {
  const id = await lease('--send');
  const args = ['envelopes', 'replace', id, '--signer', RIGHT];
  const open = () => openCommand(home, args, { columns: 100 });
  const no = open();
  await no.shows(`Replace ${id} and email 2 people`);
  expect(no.text()).toContain('one more envelope');
  no.type('\r');
  expect((await no.ended).code).toBe(2);
  expect((await get(id)).status).toBe('SENT');
  const yes = open();
  await yes.shows(`Replace ${id} and email 2 people`);
  yes.type('y\r');
  expect((await yes.ended).code).toBe(0);
  expect(yes.text()).toContain(`Replaced ${id} (CANCELLED) with`);
});
