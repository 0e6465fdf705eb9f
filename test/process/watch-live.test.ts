import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { answerPage, fakeService } from '../support/fake-service.ts';
import { openScreen, type Screen } from '../support/pty.ts';
import { json } from '../support/server.ts';

const TOTAL = 30;
/** Moves the cursor up and erases what is below. */
const REDRAW = /\u001b\[\d+A\u001b\[J/;
const NAMES = ['Ada Lovelace', '李小龍', 'Zoë \u001b[31mRed', 'Łukasz'];

let folder: string;
let env: Record<string, string>;
/** Envelopes with a number below this are completed. */
let completed = 0;
let isAway = false;

function envelope(index: number) {
  const isDone = index < completed;
  const name = NAMES[index % NAMES.length] ?? '';
  return {
    id: `env_${index}`,
    status: isDone ? 'COMPLETED' : 'SENT',
    sentAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2099-01-01T00:00:00.000Z',
    signers: [{ email: `s${index}@example.com`, name, status: isDone ? 'SIGNED' : 'SENT' }],
  };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-live-'));
  ({ env } = await fakeService((request, response) => {
    if (isAway) return json(response, 503, { error: { code: 'UNAVAILABLE', message: 'Back soon' } });
    const one = /env_(\d+)$/.exec(request.path)?.[1];
    if (one !== undefined) return json(response, 200, { data: envelope(Number(one)) });
    answerPage(request, response, TOTAL, envelope);
  }));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

function watch(
  count: number,
  size: { columns: number; rows: number },
  more: string[] = [],
  extra: Record<string, string> = {},
): Screen {
  completed = 0;
  isAway = false;
  const ids = Array.from({ length: count }, (_, index) => `env_${index}`);
  const own = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    ESIGN_CONFIG_DIR: folder,
    ESIGN_STATE_DIR: folder,
    ...env,
    ...extra,
  };
  const [file, ...before] = COMMAND;
  const args = [...before, 'envelopes', 'watch', ...ids, '--interval', '200ms', ...more];
  return openScreen(file, args, { env: own, ...size });
}

/** The last line of the table: once it is shown, the rest is, too. */
const BOTTOM = 'Ctrl-C stops watching.';

/** Waits until the visible rows are as expected. */
async function until(screen: Screen, wanted: (rows: string[]) => boolean): Promise<string[]> {
  return eventually(() => {
    const rows = screen.visible();
    if (!wanted(rows)) throw new Error(`the screen never looked so:\n${rows.join('\n')}`);
    return rows;
  });
}

describe('the live table', () => {
  it('shows each envelope and who did what, and leaves its last state on the screen', async () => {
    const screen = watch(3, { columns: 100, rows: 20 });
    const rows = await until(
      screen,
      (lines) => lines.includes(BOTTOM) && lines.some((line) => /^env_2 +SENT/.test(line)),
    );
    expect(rows[0]).toBe('Waiting for 3 envelopes to be COMPLETED  3 sent');
    expect(rows[2]).toMatch(/^ID +STATUS +SIGNED +LAST CHANGE +EXPIRES$/);
    expect(rows[3]).toMatch(/^env_0 +SENT +0\/1 +sent .* ago +in 7\d years$/);
    expect(rows.slice(7)).toEqual(expect.arrayContaining([BOTTOM]));
    completed = 1;
    await screen.shows('Ada Lovelace signed just now');
    await screen.shows('2 sent, 1 completed');
    completed = 3;
    expect(await screen.ended).toEqual({ code: 0, signal: undefined });
    await until(screen, (lines) => /^env_0 +COMPLETED +1\/1/.test(lines[1] ?? ''));
    expect(screen.raw()).toMatch(REDRAW);
    const left = screen.text();
    expect(left).toContain('李小龍 signed');
    // Untrusted text doesn't affect the terminal.
    expect(left).toContain('Zoë ␛[31mRed signed');
    expect(screen.raw()).not.toContain('\u001b[31mRed');
    expect(left).not.toContain('Ctrl-C stops');
  });

  it.each([{ columns: 60, rows: 12 }])(
    'fits $columns columns and $rows rows, and shows the number of hidden envelopes',
    async (size) => {
      const screen = watch(TOTAL, size);
      const rows = await until(
        screen,
        (lines) => lines.includes(BOTTOM) && lines.some((line) => /^env_1 +SENT/.test(line)),
      );
      const table = rows.filter((line) => /^env_\d+/.test(line));
      const more = Number(/… and (\d+) others/.exec(rows.join('\n'))?.[1]);
      expect(table.length + more).toBe(TOTAL);
      for (const line of table) expect(line).toMatch(/^env_\d+ +SENT/);
      expect(rows.filter((line) => line !== '').at(-1)).toBe(BOTTOM);
      // The one that changes becomes visible.
      completed = 1;
      await until(screen, (lines) => lines.some((line) => /^env_0 +COMPLETED/.test(line)));
      screen.type('\u0003');
      expect(await screen.ended).toMatchObject({ signal: 2 });
    },
  );

  it('is redrawn correctly after each change of size', { tags: ['full'] }, async () => {
    const screen = watch(12, { columns: 100, rows: 24 });
    await until(screen, (lines) => lines.some((line) => /^env_11 +SENT/.test(line)));
    for (const [columns, rows] of [
      [40, 10],
      [20, 6],
      [140, 30],
    ] as const) {
      screen.resize(columns, rows);
      const title = 'Waiting for 12 envelopes to be COMPLETED  12 sent';
      const wanted = columns > title.length ? title : `${title.slice(0, columns - 1)}…`;
      await until(screen, (all) => {
        const shown = all.filter((line) => /^env_/.test(line)).length;
        const more = Number(/… and (\d+) other/.exec(all.join('\n'))?.[1] ?? 0);
        const bottoms = all.filter((line) => line.startsWith('Ctrl-C stops'));
        return all[0] === wanted && shown > 0 && shown + more === 12 && bottoms.length === 1;
      });
    }
    completed = 12;
    expect((await screen.ended).code).toBe(0);
  });

  it('reports at the bottom that the service is unavailable, and continues when it is back', async () => {
    const screen = watch(2, { columns: 90, rows: 12 });
    await until(screen, (lines) => lines.some((line) => line.startsWith('env_1')));
    isAway = true;
    await screen.shows('Back soon');
    completed = 2;
    isAway = false;
    expect((await screen.ended).code).toBe(0);
    await screen.shows('env_1  COMPLETED');
  });

  it('shows the output of a command intact', async () => {
    const exec = 'read -r line; echo "saw $ESIGN_ENVELOPE_ID $ESIGN_STATUS"; echo oops >&2';
    const screen = watch(2, { columns: 90, rows: 12 }, ['--exec', exec]);
    await until(screen, (lines) => lines.some((line) => line.startsWith('env_1')));
    completed = 2;
    expect((await screen.ended).code).toBe(0);
    await screen.shows('saw env_1 COMPLETED');
    expect(
      screen
        .text()
        .split('\n')
        .filter((line) => line === 'oops'),
    ).toHaveLength(2);
  });

  it('prints plain lines on a dumb terminal', async () => {
    const screen = watch(1, { columns: 80, rows: 10 }, [], { TERM: 'dumb' });
    await screen.shows('env_0  SENT, 0 of 1 signed');
    screen.type('\u0003');
    expect(await screen.ended).toMatchObject({ signal: 2 });
    expect(screen.raw()).not.toMatch(REDRAW);
  });
});
