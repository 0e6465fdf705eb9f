import { describe, expect, it } from 'vitest';
import type { Envelope, Signer } from '../../src/api/resource-types.ts';
import { dueTurns, turnsOf } from '../../src/catalog/turns.ts';

const SENT = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;
const at = (hours: number) => new Date(SENT + hours * HOUR).toISOString();

const signed = (name: string, order: number, hours: number): Signer => ({
  name,
  order,
  status: 'SIGNED',
  signedAt: at(hours),
});
const waiting = (name: string, order: number): Signer => ({ name, order, status: 'SENT', signedAt: null });

function turns(signingOrder: string, signers: Signer[], more: Partial<Envelope> = {}) {
  const envelope = { status: 'IN_PROGRESS', sentAt: at(0), signingOrder, signers, ...more };
  return turnsOf(envelope).map((turn) => [
    turn.signer.name,
    turn.state,
    (turn.beganAt - SENT) / HOUR,
    'endedAt' in turn ? (turn.endedAt - SENT) / HOUR : null,
  ]);
}

describe('turns', () => {
  it('all begin when a parallel envelope is sent', () => {
    expect(turns('PARALLEL', [signed('Ada', 1, 5), waiting('Bo', 2)])).toEqual([
      ['Ada', 'signed', 0, 5],
      ['Bo', 'open', 0, null],
    ]);
  });

  it('begin in order with the last signature of the previous order', () => {
    const signers = [waiting('Dee', 3), signed('Ada', 1, 5), signed('Bo', 1, 9), waiting('Cy', 2)];
    expect(turns('SEQUENTIAL', signers)).toEqual([
      ['Ada', 'signed', 0, 5],
      ['Bo', 'signed', 0, 9],
      ['Cy', 'open', 9, null],
    ]);
  });

  it('keep the next order waiting until every signer of the same order has signed', () => {
    expect(turns('SEQUENTIAL', [signed('Ada', 1, 5), waiting('Bo', 1), waiting('Cy', 2)])).toEqual([
      ['Ada', 'signed', 0, 5],
      ['Bo', 'open', 0, null],
    ]);
  });

  it('end with a decline, which drops the others', () => {
    const declined = { name: 'Ada', order: 1, status: 'DECLINED', declinedAt: at(3) };
    expect(turns('PARALLEL', [declined, waiting('Bo', 1)], { status: 'DECLINED' })).toEqual([
      ['Ada', 'declined', 0, 3],
      ['Bo', 'dropped', 0, null],
    ]);
  });

  it.each([
    ['an envelope that was not sent', { sentAt: null }, []],
    ['a signature without a time', { signers: [{ status: 'SIGNED' }, waiting('Bo', 2)] }, []],
    ['an envelope without signers', { signers: undefined }, []],
  ])('omit %s', (_, more, expected) => {
    expect(turns('SEQUENTIAL', [waiting('Ada', 1)], more)).toEqual(expected);
  });
});

describe('reminders on weekdays', () => {
  /** A time in the local time zone. 2026-11-20 is a Friday, and on 25 October clocks in Europe are set back. */
  const local = (month: number, day: number, hour: number) => new Date(2026, month - 1, day, hour);
  const [FRIDAY, SATURDAY, SUNDAY, MONDAY] = [20, 21, 22, 23];
  /** Returns when a reminder is due at each time, for a turn that began at the first one and steps in hours. */
  function due(began: Date, hours: readonly number[], ...times: Date[]) {
    const envelope = { status: 'SENT', sentAt: began.toISOString(), signers: [waiting('Ada', 1)] };
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
