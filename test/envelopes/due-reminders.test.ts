import { describe, expect, it } from 'vitest';
import { dueTurns } from '../../src/envelopes/due-reminders.ts';

const HOUR = 3_600_000;

describe('reminders on weekdays', () => {
  /** A time in the local time zone. 2026-11-20 is a Friday, and on 25 October clocks in Europe are set back. */
  const local = (month: number, day: number, hour: number) => new Date(2026, month - 1, day, hour);
  const [FRIDAY, SATURDAY, SUNDAY, MONDAY] = [20, 21, 22, 23];
  /** Returns when a reminder is due at each time, for a turn that began at the first one and steps in hours. */
  function due(began: Date, hours: readonly number[], ...times: Date[]) {
    const envelope = {
      status: 'SENT',
      sentAt: began.toISOString(),
      signers: [{ name: 'Ada', order: 1, status: 'SENT', signedAt: null }],
    };
    const steps = { steps: hours.map((one) => one * HOUR), onWeekdays: true };
    return times.map((now) =>
      dueTurns(envelope, steps, now.getTime()).map(({ dueAt }) => new Date(dueAt).toString()),
    );
  }
  const [began, nothing] = [local(11, 19, 10), []];
  const monday = (hour: number) => [local(11, MONDAY, hour).toString()];

  it.each([
    ['Saturday', [48]],
    ['Sunday', [72]],
    ['both', [72, 48]],
  ])('wait from %s until Monday, same hour', (_, hours) => {
    const times = [
      [SATURDAY, 11] as const,
      [SUNDAY, 11] as const,
      [MONDAY, 9] as const,
      [MONDAY, 10] as const,
    ];
    const found = due(began, hours, ...times.map(([day, hour]) => local(11, day, hour)));
    expect(found).toEqual([nothing, nothing, nothing, monday(10)]);
  });

  it('keep the hour when clocks are set back on that weekend', () => {
    expect(due(local(10, 22, 10), [48], local(10, 26, 9), local(10, 26, 10))).toEqual([
      nothing,
      [local(10, 26, 10).toString()],
    ]);
  });

  it('are due on other days at the hour of the step', () => {
    expect(due(began, [24, 25], local(11, FRIDAY, 10), local(11, FRIDAY, 11))).toEqual([
      [local(11, FRIDAY, 10).toString()],
      [local(11, FRIDAY, 11).toString()],
    ]);
  });

  it('are not due on a weekend for a step that was missed before it', () => {
    expect(due(began, [24], local(11, SATURDAY, 0), local(11, MONDAY, 0))).toEqual([
      nothing,
      [local(11, FRIDAY, 10).toString()],
    ]);
  });

  it('are due only once on Monday if two steps fell on the weekend', () => {
    expect(due(began, [60, 96], local(11, MONDAY, 11), local(11, MONDAY, 23))).toEqual([
      monday(10),
      monday(10),
    ]);
  });
});
