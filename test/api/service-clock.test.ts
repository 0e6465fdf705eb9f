import { describe, expect, it } from 'vitest';
import { ServiceClock } from '../../src/api/service-clock.ts';
import { fakeClock } from '../support/clock.ts';

const DAY = 86_400_000;

/** A local clock that can be set, and the time that really passes. */
function setUp() {
  const machine = fakeClock(Date.UTC(2026, 0, 1));
  let passed = 0;
  const service = new ServiceClock(machine, () => passed);
  const hear = (time: number) => service.update({ date: new Date(time).toUTCString() });
  const pass = (ms: number) => {
    passed += ms;
    machine.time += ms;
  };
  return { machine, service, hear, pass };
}

describe("the service's clock", () => {
  it('is the local clock until a response has a date, and while both agree', () => {
    const { machine, service, hear, pass } = setUp();
    expect(service.now()).toBe(machine.time);
    hear(machine.time - 2_000);
    expect(service.now()).toBe(machine.time);
    pass(500);
    expect(service.now()).toBe(machine.time);
  });

  it.each([31 * DAY, -3 * DAY])(
    'is the date of the response, %i ms from ours, plus the elapsed time',
    (off) => {
      const { machine, service, hear, pass } = setUp();
      const theirs = machine.time + off;
      hear(theirs);
      pass(1_500);
      expect(service.now()).toBe(theirs + 1_500);
      // The user sets the local clock.
      machine.time += 5 * DAY;
      pass(1_000);
      expect(service.now()).toBe(theirs + 2_500);
    },
  );

  it('follows the latest response that has a date', () => {
    const { machine, service, hear } = setUp();
    hear(machine.time + DAY);
    service.update({});
    service.update({ date: 'soon' });
    service.update({ date: 'Sat, 13 Sep 275760 00:00:00 GMT' });
    expect(service.now()).toBe(machine.time + DAY);
    hear(machine.time);
    expect(service.now()).toBe(machine.time);
  });
});
