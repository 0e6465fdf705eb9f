import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home, linesOf } from '../support/cli.ts';

const home = new Home();
beforeAll(async () => {
  await home.sandbox();
  const create = [
    'envelopes',
    'create',
    '--template',
    'tmpl_nda',
    '--signer',
    'Ada <ada@example.com>',
    '--send',
  ];
  const hostile = '<script>alert(1)</script>';
  const { id } = await home.object`${create} --metadata ${`unit=${hostile}`}`;
  const declined = await home.object`${create} --metadata unit=a|b`;
  await home.run`${create} --metadata unit=a|b`;
  await home.run`sandbox advance 2d`;
  await home.run`sandbox sign ${String(id)}`;
  await home.run`sandbox decline ${String(declined.id)} --reason ${hostile}`;
});
afterAll(() => home.close());

describe('report', () => {
  it('counts the selected envelopes with their current status', async () => {
    expect(await home.object`report --by meta.unit`).toMatchObject({
      sent: 3,
      completed: 1,
      declined: 1,
      open: 1,
      completionRate: 0.5,
      toComplete: { samples: 1 },
      groups: [{ key: 'a|b', sent: 2 }, { sent: 1 }],
    });
    expect(await home.object`report --metadata unit=a|b`).toMatchObject({ sent: 2, groups: [] });
    expect(await home.object`report --older-than 1d --status COMPLETED`).toMatchObject({ sent: 1 });
    expect(await home.object`report --since 1d`).toMatchObject({ sent: 0, completionRate: null });
  });

  it('prints CSV, Markdown, and tab-separated lines', async () => {
    const [header, row] = linesOf((await home.run`report --csv`).stdout);
    expect(header).toMatch(/^key,name,sent,completionRate,toComplete\.medianMs,/);
    expect(row).toMatch(/^,all,3,0\.5,/);
    expect((await home.run`report --by meta.unit`).stdout).toMatch(/^a\|b\ta\|b\t2\t/);
    const markdown = (await home.run`report --by meta.unit --markdown`).stdout;
    expect(markdown).toContain(String.raw`| a\|b | 2 |`);
    expect(markdown).not.toContain('<script');
    expect((await home.run`report --by nothing`).code).toBe(2);
  });

  it('writes a page that loads and runs nothing', async () => {
    await home.json`report --by meta.unit --html report.html`;
    const page = await readFile(home.path('report.html'), 'utf8');
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).not.toMatch(/<script|https?:|@import|url\(|src=|href=/);
    expect((await home.run`report --html -`).stdout).toMatch(/^<!doctype html>/);
    for (const format of ['--json', '--csv', '--markdown'])
      expect(await home.run`report --html - ${format}`).toMatchObject({ code: 2 });
  });
});
