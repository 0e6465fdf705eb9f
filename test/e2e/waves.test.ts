import { mkdir, rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rowsOf } from '../support/bulk-check.ts';
import { Home, jsonLines, linesOf, reportedError } from '../support/cli.ts';

const home = new Home();
beforeAll(() => home.sandbox());
afterAll(() => home.close());
beforeEach(async () => {
  await home.run`sandbox reset --yes`;
  await writeFile(home.path('rows.csv'), rowsOf(9));
});

const create = (...args: string[]) =>
  home.run(['bulk', 'create', 'rows.csv', '--template', 'tmpl_nda', '--send', '--yes', '--json', ...args]);

async function sent(): Promise<number> {
  return jsonLines((await home.run`envelopes list --all --jsonl`).stdout).length;
}

describe('bulk create --waves', () => {
  it('sends a wave with each command', async () => {
    const first = await create('--waves', '2,4');
    expect([first.code, jsonLines(first.stdout).length, await sent()]).toEqual([0, 2, 2]);
    expect(first.stderr).toContain('bulk resume run-');
    expect(await home.json`bulk show --last --json`).toMatchObject({
      state: 'interrupted',
      total: 9,
      done: 2,
      waves: { current: 1, sizes: [2, 4, 3] },
    });
    const second = await home.run`bulk resume --last --json`;
    expect([second.code, jsonLines(second.stdout).length, await sent()]).toEqual([0, 4, 6]);
    const third = await home.run`bulk resume --last --json`;
    expect([third.code, await sent()]).toEqual([0, 9]);
    expect(await home.json`bulk show --last --json`).toMatchObject({ state: 'finished', done: 9 });
  });

  it('sends no further wave above a limit, except with --anyway', async () => {
    const first = await create('--waves', '2,rest', '--stop-if', 'declined>50%,waiting>99%');
    const envelopeId = /env_\w+/.exec(first.stdout)?.[0] ?? '';
    await home.run(['sandbox', 'decline', envelopeId, '--reason', 'no']);
    expect((await home.run`bulk resume --last --json`).code).toBe(0);

    await home.run`sandbox reset --yes`;
    await create('--waves', '2,rest', '--stop-if', 'failed>1%,waiting>99%', '--again');
    const refused = await home.run`bulk resume --last --json`;
    expect([refused.code, refused.stdout, await sent()]).toEqual([10, '', 2]);
    const error = reportedError(refused);
    expect(error.code).toBe('STOP_IF');
    expect(error.message).toContain('waiting: 2 of 2 (100%)');
    expect((await home.run`bulk resume --last --anyway --json`).code).toBe(0);
    expect(await sent()).toBe(9);
  });

  it('shows with --dry-run what the next wave would send, and begins no wave', async () => {
    await create('--waves', '2,4', '--stop-if', 'waiting>99%');
    const shown = { dryRun: true, wave: 2, rows: 4, signers: 4, requests: 8, send: true };
    expect((await home.run`bulk resume --last --dry-run --json`).code).toBe(10);
    expect(await home.json`bulk resume --last --dry-run --anyway --json`).toMatchObject(shown);
    const { code, stdout } = await home.run`bulk resume --last --dry-run --anyway`;
    expect([code, stdout]).toEqual([0, expect.stringContaining('4 signers in wave 2 of 3')]);
    expect(await sent()).toBe(2);
    expect(await home.json`bulk show --last --json`).toMatchObject({ done: 2, waves: { current: 1 } });
  });

  it('names a results.csv that it could not write, also with --json', async () => {
    const { stdout } = await create('--waves', '2,rest');
    const results = home.path('state', 'bulk', /run-[\w-]+/.exec(stdout)?.[0] ?? '', 'results.csv');
    await rm(results);
    await mkdir(results);
    const { code, stderr } = await home.run`bulk resume --last --json`;
    expect([code, linesOf(stderr).length]).toEqual([0, 1]);
    expect(stderr).toContain(results);
  });

  it.each([['0,rest'], ['rest,20'], ['20,,5'], ['x']])('refuses --waves %s', async (waves) => {
    expect((await create('--waves', waves)).code).toBe(2);
  });

  it.each([['declined'], ['declined>200%'], ['signed>2%'], ['declined>2']])(
    'refuses --stop-if %s',
    async (limit) => {
      expect((await create('--waves', '2', '--stop-if', limit)).code).toBe(2);
    },
  );
});
