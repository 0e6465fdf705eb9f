import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { createTerminal } from '../../src/cli/terminal.ts';
import { ListenView } from '../../src/commands/listen/view.ts';
import { DayJournal } from '../../src/journal/day-journal.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { parseJson } from '../../src/kernel/json.ts';
import { createRedactor } from '../../src/kernel/redaction.ts';
import type { ForwardResult } from '../../src/webhooks/forward/send.ts';
import { EVENTS_FORMAT, recordOf } from '../../src/webhooks/journal/record.ts';
import type { Delivery } from '../../src/webhooks/receive/delivery.ts';
import { NO_PAYLOAD, readPayload } from '../../src/webhooks/receive/payload.ts';

const lineSchema = z.object({ deliveryId: z.string(), id: z.string(), body: z.object({ id: z.string() }) });

/* A listener prints events to two streams, and a terminal shows both in chronological order. */
const result: ForwardResult = {
  id: 'dlv_1',
  event: 'envelope.sent',
  envelopeId: 'env_1',
  url: 'http://127.0.0.1:3000/hooks',
  attempt: 5,
  status: 422,
  ms: 12,
  error: 'answered 422',
  nextMs: null,
};

function viewOf(
  flags: { json?: boolean },
  out: (text: string) => Promise<void>,
  shown: string[],
): ListenView {
  const terminal = {
    ...createTerminal(flags, { redactor: createRedactor(), output: { undelivered: undefined } }),
    notice: (text: string) => void shown.push(`${text}\n`),
    outIsTty: true,
    out: (text: string | Uint8Array) => out(String(text)),
  };
  return new ListenView({ ...terminal, hidingSecrets: () => terminal }, { tunnel: undefined, forwardTo: [] });
}

it('shows the last forwarding attempt before it reports the failure', async () => {
  const shown: string[] = [];
  const view = viewOf(
    {},
    async (text) => {
      await new Promise((resolve) => setImmediate(resolve));
      shown.push(text);
    },
    shown,
  );
  view.take({ type: 'forward', result });
  view.take({ type: 'warning', message: 'It is given up.' });
  view.take({ type: 'forward', result: { ...result, attempt: 1, error: null, status: 200 } });
  await view.written();
  expect(shown).toEqual([
    '          → envelope.sent env_1  answered 422, attempt 5\n',
    'It is given up.\n',
    '          → envelope.sent env_1  200 in 12 ms\n',
  ]);
});

it('keeps deliveries in the journal while nobody reads them, and prints them all in order', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'esign-view-'));
  const journal = new DayJournal(folder, EVENTS_FORMAT, systemClock);
  const shown: string[] = [];
  let read: () => void = () => undefined;
  const reader = new Promise<void>((resolve) => {
    read = resolve;
  });
  const view = viewOf(
    { json: true },
    async (text) => {
      await reader;
      shown.push(text);
    },
    shown,
  );
  for (let n = 0; n < 22; n++) {
    const raw = Buffer.from(JSON.stringify({ id: `evt_${n}`, pad: 'x'.repeat(900_000) }));
    const delivery: Delivery = {
      ...(readPayload(raw) ?? NO_PAYLOAD),
      deliveryId: `dlv_${n}`,
      receivedAt: '2026-01-02T03:04:05.000Z',
      raw,
      verified: true,
      duplicate: false,
      reason: null,
      answer: 200,
      bytes: raw.byteLength,
      headers: [],
    };
    view.take({ type: 'delivery', delivery, place: await journal.append(recordOf(delivery)) });
    if (n === 20) view.take({ type: 'warning', message: 'between' });
    // Distinguishes the lines of buffered deliveries from those read from the journal.
    delivery.id = 'buffered';
  }
  await journal.close();
  read();
  await view.written();
  await rm(folder, { recursive: true });
  const lines = shown.flatMap((text) => text.trim().split('\n'));
  const deliveries = lines
    .filter((text) => text.includes('"delivery"'))
    .map((text) => z.parse(lineSchema, parseJson(text)));
  expect(deliveries.map(({ deliveryId }) => deliveryId)).toEqual(
    Array.from({ length: 22 }, (_, n) => `dlv_${n}`),
  );
  expect(deliveries.filter(({ id }) => id === 'buffered').length).toBeLessThan(20);
  expect(deliveries[21]).toEqual({ deliveryId: 'dlv_21', id: 'evt_21', body: { id: 'evt_21' } });
  expect(lines.indexOf('between')).toBe(22);
});
