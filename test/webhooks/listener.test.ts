import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { createRedactor } from '../../src/kernel/redaction.ts';
import type { ListenEvent } from '../../src/webhooks/listen-event.ts';
import { listen } from '../../src/webhooks/listener.ts';
import { newFolder } from '../support/folder.ts';
import { payload, post, signed } from '../support/webhooks.ts';

const SECRET = 'a-secret-of-more-than-16';

it('records and forwards a limited number of repeats, and counts all of them', async () => {
  const eventsFolder = newFolder();
  const over = new AbortController();
  const options = {
    ...{ host: '127.0.0.1', port: 0, path: '/webhooks', verify: true, inspect: false, forwardTo: [] },
    ...{ events: undefined, tunnel: undefined, healthPort: undefined, redactor: createRedactor() },
    ...{ clock: systemClock, eventsFolder, secretsFor: () => Promise.resolve([SECRET]) },
  };
  const events: ListenEvent[] = [];
  const body = payload('env_1', 'envelope.sent', { filler: 'x'.repeat(1_000_000) });
  for await (const event of listen(options, over.signal)) {
    events.push(event);
    if (event.type !== 'ready') continue;
    for (let n = 0; n < 36; n++) expect(await post(event.url, body, signed(body, SECRET))).toBe(200);
    over.abort();
  }
  expect(events.filter(({ type }) => type === 'delivery').length).toBeLessThan(35);
  expect(events).toContainEqual({
    type: 'warning',
    message: expect.stringMatching(/^Too many deliveries were repeated today/) as unknown,
  });
  expect(events.at(-1)).toMatchObject({ type: 'summary', received: 36, verified: 36, duplicates: 35 });
  const sizes = (await readdir(eventsFolder)).map(
    async (name) => (await stat(join(eventsFolder, name))).size,
  );
  expect((await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)).toBeLessThan(50_000_000);
});
