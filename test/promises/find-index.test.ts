import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { Home, linesOf } from '../support/cli.ts';
import { fakeService } from '../support/fake-service.ts';
import { FindWorld, findAfterAnyHistory, READINGS } from '../support/find-world.ts';
import type { Reading } from '../support/model-service.ts';
import { isPrivate } from '../support/private.ts';
import { json } from '../support/server.ts';

/* What `find` prints after any changes on the service, in the local files, and in the order and content of lists. */
const world = (reading: Partial<Reading> = {}) => FindWorld.start(reading);

describe('find in a list', () => {
  it.each(READINGS)('%s finds every envelope, its changes, and new ones', async (_, reading) => {
    const here = await world(reading);
    here.make(120, 10);
    expect((await here.find('ada')).found).toEqual(here.service.truth('ada'));
    // The second time, it reads a few pages and the active envelopes that it shows.
    const again = await here.find('no2');
    expect(again.found).toEqual(here.service.truth('no2'));
    const active = again.found.filter((one) => one.includes('SENT')).length;
    expect(again.requests).toBeLessThanOrEqual(5 + active);

    here.make(110, 10);
    here.service.move('env_115', 'COMPLETED');
    here.service.move('env_225', 'DECLINED');
    for (const words of [['no2'], ['ada'], ['d-22']])
      expect((await here.find(...words)).found).toEqual(here.service.truth(words[0] ?? ''));
    here.service.move('env_225', 'CANCELLED');
    const ended = await here.find('ada', '--status', 'CANCELLED');
    expect(ended.found).toEqual(here.service.truth('ada', ['CANCELLED']));
  });

  it('reads pages if that takes fewer requests than the active envelopes', async () => {
    const here = await world();
    here.make(330, 330);
    await here.find('ada');
    here.service.move('env_3', 'COMPLETED');
    const all = await here.find('ada');
    expect(all.found).toEqual(here.service.truth('ada'));
    expect(all.requests).toBeLessThanOrEqual(1 + 4);
  });

  it('requests no more envelopes than its limit', async () => {
    const here = await world({ items: 'summary' });
    here.make(30, 30);
    await here.find('ada');
    expect(await here.find('ada', '-L', '3')).toEqual({
      found: here.service.truth('ada').slice(0, 3),
      requests: 1 + 3,
    });
  });

  it('reads at first only the envelopes that may have the status', async () => {
    const here = await world({ items: 'summary' });
    here.make(40, 5);
    const open = await here.find('ada', '--status', 'open');
    expect([open.found.length, open.requests]).toEqual([5, 1 + 5]);
    expect((await here.find('ada')).found).toHaveLength(40);
  });

  it.each(READINGS.slice(0, 4))(
    '%s finds only new envelopes after the service was reset',
    async (_, reading) => {
      const here = await world(reading);
      here.make(130);
      await here.find('ada');
      here.service.reset(4 * 86_400_000);
      for (let n = 0; n < 120; n++) {
        here.service.make({ id: `env_new${n}` });
        here.service.move(`env_new${n}`, 'CANCELLED');
      }
      expect((await here.find('no1')).found.sort()).toEqual(here.service.truth('no1').sort());
    },
  );

  it('shows the documents of a completed envelope once they are stored', async () => {
    const here = await world();
    const deal = { metadata: { deal: 'late' } };
    here.service.make({
      id: 'env_late',
      status: 'COMPLETED',
      completedAt: new Date().toISOString(),
      ...deal,
    });
    here.make(120);
    await here.find('late');
    const late = here.service.envelopes.get('env_late');
    const keys = { signedDocumentStorageKey: 'signed.pdf', certificateStorageKey: 'certificate.pdf' };
    here.service.envelopes.set('env_late', { id: 'env_late', ...late, ...keys });
    expect(await here.home.json`find late`).toMatchObject([keys]);
  });
});

describe('the local index', () => {
  const damages: [string, (path: string) => Promise<void>][] = [
    ['deleted', (path) => rm(path)],
    ['empty', (path) => writeFile(path, '')],
    ['from another version', (path) => writeFile(path, '{"journal":"envelope-index","version":99}\n')],
    [
      'changed in one value',
      async (path) => {
        const text = await readFile(path, 'utf8');
        await writeFile(path, text.replace(/"status":"SIGNED"(?!.*"status":"SIGNED")/, '"status":"SIGNET"'));
      },
    ],
    [
      'cut off',
      async (path) => {
        const bytes = await readFile(path);
        await writeFile(path, bytes.subarray(0, bytes.length / 2));
      },
    ],
    [
      'damaged everywhere',
      async (path) => {
        const bytes = await readFile(path);
        for (let at = 100; at < bytes.length; at += 400) bytes[at] = 0x7f;
        await writeFile(path, bytes);
      },
    ],
  ];

  it.each(damages)('that is %s costs time, but nothing is missing or wrong', async (_, damage) => {
    const here = await world();
    here.make(130, 10);
    await here.find('ada');
    for (const path of await here.files()) await damage(path);
    here.service.move('env_125', 'COMPLETED');
    expect((await here.find('ada')).found).toEqual(here.service.truth('ada'));
    expect((await here.find('no12')).found).toEqual(here.service.truth('no12'));
  });

  it('is read from scratch with --refresh, and not updated with --cached', async () => {
    const here = await world({ items: 'summary' });
    here.make(30);
    await here.find('ada');
    expect((await here.find('ada', '--refresh')).requests).toBe(1 + 30);
    here.service.make();
    expect(await here.find('ada', '--cached')).toMatchObject({ found: { length: 30 }, requests: 0 });
    expect((await here.home.run`find ada --refresh --cached`).code).toBe(2);
  });

  it('does not grow when lists are read, and never beyond twice its live size', async () => {
    const here = await world();
    here.make(60, 60);
    await here.find('ada');
    const [path = ''] = await here.files();
    const size = async () => (await stat(path)).size;
    const first = await size();
    await here.home.run`envelopes list --all`;
    await here.home.run`envelopes watch env_1 --timeout 1s --interval 1s`;
    expect(await size()).toBeLessThan(first * 1.1);
    for (let round = 0; round < 6; round++) {
      for (const one of here.service.envelopes.values()) one.subject = `Contract, draft ${round}`;
      expect((await here.find('draft')).found).toHaveLength(60);
      // Two thirds of the lines are obsolete at most: the next search rewrites it.
      expect(await size()).toBeLessThan(first * 3.3);
    }
  });

  it('takes nothing from a service that answers with another ID than it was asked for', async () => {
    const envelope = (id: string) => ({ id, status: 'SENT', createdAt: '2026-01-02T03:04:05Z' });
    const service = await fakeService(({ path }, response) => {
      const [id] = path.split('/esign/envelopes/').slice(1);
      json(response, 200, { data: id === undefined ? [envelope('env_1')] : envelope(`${id}x`) });
    });
    const home = new Home(service.env);
    await home.run`find env`;
    await home.run`envelopes get env_2`;
    expect((await home.run`find env`).code).toBe(0);
    expect(service.server.seen.length).toBeLessThan(10);
  }, 20_000);

  it('is readable only by its owner', async () => {
    const here = await world();
    here.make(3);
    await here.find('ada');
    const files = await here.files();
    expect(files).not.toEqual([]);
    for (const path of [here.folder, ...files]) expect([path, isPrivate(path)]).toEqual([path, true]);
  });

  it('of one key shows nothing to another', async () => {
    const here = await world();
    here.make(3);
    await here.find('ada');
    const other = { ESIGN_API_KEY: 'sk_other_0123456789' };
    const { stdout } = await here.home.run(['find', 'ada', '--cached', '-q'], { env: other });
    expect(stdout).toBe('');
  });

  it('that cannot be stored causes a notice, and the search still works', async () => {
    const here = await world();
    here.make(3);
    const blocked = here.home.path('a-file');
    await writeFile(blocked, '');
    const run = await here.home.run(['find', 'ada', '-q'], { env: { ESIGN_STATE_DIR: blocked } });
    expect([run.code, linesOf(run.stdout).length]).toEqual([0, 3]);
    expect(run.stderr).not.toBe('');
  });
});

it('returns the state of the service after any history', () => findAfterAnyHistory(8));
