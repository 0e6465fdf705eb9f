import { expect, it } from 'vitest';
import { createTerminal } from '../../src/cli/terminal.ts';
import { ListenView } from '../../src/commands/listen/view.ts';
import { createRedactor } from '../../src/kernel/redaction.ts';
import type { ForwardResult } from '../../src/webhooks/forward/send.ts';

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
  waiting: 0,
};

it('shows the last forwarding attempt before it reports the failure', async () => {
  const shown: string[] = [];
  const terminal = {
    ...createTerminal({}, { redactor: createRedactor(), output: { undelivered: undefined } }),
    notice: (text: string) => void shown.push(`${text}\n`),
    outIsTty: true,
    out: async (text: string | Uint8Array) => {
      await new Promise((resolve) => setImmediate(resolve));
      shown.push(String(text));
    },
  };
  const view = new ListenView(
    { ...terminal, hidingSecrets: () => terminal },
    { tunnel: undefined, forwardTo: [] },
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
