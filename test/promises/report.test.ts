import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, linesOf } from '../support/cli.ts';
import { ModelService } from '../support/model-service.ts';

const HOSTILE = '<script>alert(1)</script>';

describe('report', () => {
  const home = new Home();
  beforeAll(async () => {
    await home.sandbox();
    const signer = ['--signer', 'Ada <ada@example.com>', '--send'];
    const create = (unit: string) =>
      home.object`envelopes create --template tmpl_nda ${signer} --metadata unit=${unit}`;
    const { id } = await create(HOSTILE);
    const declined = await create('a|b');
    await create('a|b');
    await home.run`sandbox advance 2d`;
    await home.run`sandbox sign ${String(id)}`;
    await home.run`sandbox decline ${String(declined.id)} --reason ${HOSTILE}`;
  });

  it('counts the selected envelopes with their current status', async () => {
    expect(await home.object`report --by meta.unit`).toMatchObject({
      sent: 3,
      completed: 1,
      declined: 1,
      open: 1,
      completionRate: 0.5,
      toComplete: { samples: 1 },
      turn: { samples: 2 },
      declineReasons: [{ reason: HOSTILE, count: 1 }],
      groups: [
        { key: 'a|b', name: 'a|b', sent: 2 },
        { key: HOSTILE, sent: 1 },
      ],
    });
    expect(await home.object`report --metadata unit=a|b`).toMatchObject({ sent: 2, groups: [] });
    expect(await home.object`report --older-than 1d --status COMPLETED`).toMatchObject({ sent: 1 });
    expect(await home.object`report --since 1d`).toMatchObject({ sent: 0, completionRate: null });
  });

  it('shows first what needs attention, whatever the period and with its command', async () => {
    const home = new Home();
    await home.sandbox();
    const signer = ['--signer', 'Ada <ada@example.com>'];
    const create = async (...more: string[]) =>
      String((await home.object`envelopes create --template tmpl_nda ${signer} ${more}`).id);
    const draft = await create();
    const declined = await create('--send');
    const open = await create('--send', '--metadata', 'unit=sales');
    const replaced = await create('--send');
    await home.run`sandbox advance 29d`;
    await home.run`sandbox decline ${declined} --reason no`;
    await home.run`sandbox decline ${replaced} --reason no`;
    await home.run`envelopes replace ${replaced} --subject Again --yes`;
    const { attention, sent } = await home.object`report --since 1d`;
    expect(sent).toBe(1);
    const one = (id: string, next: string, people = ['Ada']) => ({
      count: 1,
      envelopes: [{ id, people }],
      next: `esign ${next}`,
    });
    expect(attention).toMatchObject({
      declined: one(declined, 'envelopes list --status=DECLINED --since=30d'),
      expiring: one(open, 'envelopes list --expiring-in=3d'),
      overdue: one(open, 'late'),
      drafts: one(draft, 'envelopes list --status=DRAFT --older-than=7d'),
    });
    const only = await home.run`report --attention`;
    const lines = [
      ['declined', '1', 'esign envelopes list --status=DECLINED --since=30d'],
      ['expiring', '1', 'esign envelopes list --expiring-in=3d'],
      ['overdue', '1', 'esign late'],
      ['drafts', '1', 'esign envelopes list --status=DRAFT --older-than=7d'],
    ];
    expect([only.code, linesOf(only.stdout)]).toEqual([0, lines.map((line) => line.join('\t'))]);
    const some = await home.run`report --attention --exit-code --metadata unit=sales --json`;
    expect([some.code, parseJson(some.stdout)]).toMatchObject([
      10,
      [
        { kind: 'expiring', ...one(open, 'envelopes list --expiring-in=3d --metadata=unit=sales') },
        { kind: 'overdue', ...one(open, 'late --metadata=unit=sales') },
      ],
    ]);
    expect(await home.object`report --metadata unit=sales`).toMatchObject({
      attention: { declined: { count: 0 }, overdue: one(open, 'late --metadata=unit=sales') },
    });
  });

  it.each([
    ['', ''],
    ['--csv', ''],
    ['--fields kind', ''],
    ['--json', '[]\n'],
  ])('prints nothing and exits with 0 if nothing needs attention: --attention %s', async (format, stdout) => {
    const calm = await home.run(
      argv`report --attention --exit-code --template tmpl_lease ${format.split(' ').filter(Boolean)}`,
    );
    expect([calm.code, calm.stdout, calm.stderr]).toEqual([0, stdout, '']);
  });

  it.each(['--exit-code', '--attention --month 2026-11', '--attention --since 7d', '--attention --html -'])(
    'refuses %s',
    async (flags) => {
      expect((await home.run(argv`report ${flags.split(' ')}`)).code).toBe(2);
    },
  );

  it('prints CSV and tab-separated lines', async () => {
    const [header, row] = linesOf((await home.run`report --csv`).stdout);
    expect(header).toMatch(/^key,name,sent,completionRate,toComplete\.medianMs,/);
    expect(row).toMatch(/^,all,3,0\.5,/);
    expect((await home.run`report --by meta.unit`).stdout).toMatch(/^a\|b\ta\|b\t2\t/);
    expect((await home.run`report --fields sent,open`).stdout).toBe('3\t1\n');
    expect((await home.run`report --by nothing`).code).toBe(2);
  });

  it('writes a page that has no scripts and loads nothing', async () => {
    const { stderr } = await home.run`report --by meta.unit --html report.html`;
    expect(stderr).toBe('Created report.html.\n');
    const page = await readFile(home.path('report.html'), 'utf8');
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).toContain('sandbox, 127.0.0.1');
    expect(page).not.toMatch(/<script|https?:|@import|url\(|src=|href=/);
    expect((await home.run`report --html -`).stdout).toMatch(/^<!doctype html>/);
    for (const format of ['--json', '--csv'])
      expect(await home.run`report --html - ${format}`).toMatchObject({ code: 2 });
  });
});

describe('a report of a month', () => {
  it('covers the envelopes created in it, in UTC', async () => {
    const service = await ModelService.start();
    const home = new Home(service.env);
    for (const createdAt of ['2025-11-30T23:59:59.999Z', '2025-12-01T00:00:00Z', '2025-12-31T23:59:59Z'])
      service.make({ createdAt, sentAt: createdAt });
    expect(await home.object(['report', '--month', '2025-12'])).toMatchObject({
      since: '2025-12-01T00:00:00.000Z',
      until: '2025-12-31T23:59:59.999Z',
      sent: 2,
    });
    expect((await home.run`report --month 2025-12 --html -`).stdout).not.toContain('this month');
    expect((await home.run`report --since 2025-12-01 --html -`).stdout).toContain('Sent this month');
    for (const wrong of [['2025-13'], ['December'], ['2025-12', '--since', '7d']])
      expect((await home.run(['report', '--month', ...wrong])).code).toBe(2);
  });
});

describe('a second report', () => {
  let service: ModelService;
  let home: Home;

  /** The requests of a command that must succeed. */
  async function requestsOf(...words: string[]): Promise<number> {
    const before = service.requests;
    await home.json(words);
    return service.requests - before;
  }

  it.each([['summary'], ['whole']] as const)(
    'takes at most five requests and one for each active envelope of a list with %s items',
    async (items) => {
      service = await ModelService.start({ items });
      home = new Home(service.env);
      for (let n = 0; n < 250; n++) {
        service.make();
        if (n >= 12) service.move(`env_${n}`, 'COMPLETED');
      }
      await home.json(['report']);
      service.move('env_3', 'COMPLETED');
      service.move('env_4', 'DECLINED');
      expect(await requestsOf('report')).toBeLessThanOrEqual(5 + 12);
      expect(await home.object(['report'])).toMatchObject({
        sent: 250,
        completed: 239,
        declined: 1,
        open: 10,
      });
      expect(await requestsOf('late')).toBeLessThanOrEqual(5 + 12);
      // The first page shows that one has ended, but without its signers not more than that.
      service.make();
      await home.json(['report']);
      service.move('env_250', 'COMPLETED');
      expect(await home.object(['report'])).toMatchObject({ sent: 251, completed: 240 });
      // Only the selected ones that are still active.
      expect(await requestsOf('report', '--metadata', 'deal=D-5')).toBeLessThanOrEqual(5 + 1);
    },
  );
});
