import { expect, it } from 'vitest';
import { Outage } from '../../src/bulk/outage.ts';
import { NetworkError } from '../../src/kernel/errors.ts';
import { fakeClock } from '../support/clock.ts';

it('says once that the run continues by itself, and then reports only long waits', async () => {
  const notices: string[] = [];
  const down = new NetworkError('NETWORK', "Can't reach the service.", { maybeReceived: false });
  let probes = 0;
  const outage = new Outage({
    clock: fakeClock(),
    signal: new AbortController().signal,
    probe: () => (++probes < 8 ? Promise.reject(down) : Promise.resolve()),
    notice: (text) => notices.push(text),
  });
  outage.failed(down);
  await outage.waitUntilOver();
  expect(notices[0]).toBe(
    "Can't reach the service. The run continues when the service responds again, within 10 minutes. No row is sent twice.",
  );
  expect(notices.slice(1, -1)).toEqual(
    Array.from({ length: 3 }, () => "Can't reach the service. Trying again in 30 seconds."),
  );
  expect(notices.at(-1)).toBe('The service is responding again.');
});
