import { expect, it } from 'vitest';
import { readMails } from '../../../src/commands/sandbox/mails.ts';
import type { ListedMail } from '../../../src/sandbox-control/control.ts';

const MAIL: ListedMail = {
  id: 'mail_1',
  at: '2026-01-02T03:04:05Z',
  kind: 'request',
  to: 'ada@example.com',
  envelopeId: 'env_1',
  subject: 'Sign',
  link: null,
};

/** A sandbox in which the email arrives during the request with that number. */
function sandboxWith(arrivesAt: number) {
  const waits: (number | undefined)[] = [];
  const mails = async ({ waitMs }: { waitMs?: number | undefined }) => {
    waits.push(waitMs);
    return waits.length >= arrivesAt ? [MAIL] : [];
  };
  return { waits, sandbox: { mails } };
}

it('waits for an email longer than the 5 seconds of one request', async () => {
  const { waits, sandbox } = sandboxWith(3);
  expect(await readMails({ wait: 60_000 }, sandbox)).toEqual([MAIL]);
  expect(waits).toEqual([5000, 5000, 5000]);
});

it('sends one request for a shorter wait, and reports that no email arrived', async () => {
  const { waits, sandbox } = sandboxWith(2);
  await expect(readMails({ wait: 3000 }, sandbox)).rejects.toMatchObject({ code: 'WAIT_TIMEOUT' });
  expect(waits).toHaveLength(1);
});

it("doesn't wait without --wait", async () => {
  const { waits, sandbox } = sandboxWith(2);
  expect(await readMails({}, sandbox)).toEqual([]);
  expect(waits).toEqual([undefined]);
});
