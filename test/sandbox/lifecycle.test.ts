import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EnvelopeRecord } from '../../src/sandbox/model.ts';
import { ApiError } from '../../src/sandbox/service/base/errors.ts';
import { draftEnvelope } from '../../src/sandbox/service/engine/draft.ts';
import type { LifecycleStep } from '../../src/sandbox/service/engine/lifecycle.ts';
import * as lifecycle from '../../src/sandbox/service/engine/lifecycle.ts';
import * as predicates from '../../src/sandbox/service/engine/predicates.ts';
import { ada, lease } from './rig.ts';

const START = Date.parse('2026-01-01T00:00:00.000Z');
const HOUR = 3_600_000;

const scenario = fc.record({
  orders: fc.array(fc.option(fc.nat(3), { nil: undefined }), { minLength: 1, maxLength: 5 }),
  signingOrder: fc.constantFrom('SEQUENTIAL' as const, 'PARALLEL' as const),
  actions: fc.array(
    fc.record({
      what: fc.constantFrom('send', 'cancel', 'remind', 'view', 'sign', 'sign', 'sign', 'decline', 'expire'),
      signer: fc.nat(5),
    }),
    { maxLength: 25 },
  ),
});

function fresh(orders: (number | undefined)[], signingOrder: 'SEQUENTIAL' | 'PARALLEL'): EnvelopeRecord {
  let n = 0;
  const signers = orders.map((order) => ({ ...ada, ...(order === undefined ? {} : { order }) }));
  return draftEnvelope(
    'org_1',
    lease,
    { templateId: lease.id, signers, signingOrder },
    START,
    () => `${n++}`,
  );
}

/** Returns the step of an action, or null if it is refused. Any other failure fails the test. */
function attempt(envelope: EnvelopeRecord, what: string, signer: number, now: number): LifecycleStep | null {
  const signerId = envelope.signers[signer]?.id ?? 'signer_stranger';
  try {
    switch (what) {
      case 'send':
        return lifecycle.send(envelope, now);
      case 'cancel':
        return lifecycle.cancel(envelope, null, now);
      case 'remind':
        return lifecycle.remind(envelope, signer === 5 ? null : signerId, now);
      case 'view':
        return lifecycle.view(envelope, signerId, now);
      case 'sign':
        return lifecycle.sign(envelope, { signerId, values: { a: 'b' } }, now);
      case 'decline':
        return lifecycle.decline(envelope, { signerId, reason: null }, now);
      default:
        return predicates.isDue(envelope, Number.MAX_SAFE_INTEGER) ? lifecycle.expire(envelope) : null;
    }
  } catch (error) {
    if (error instanceof ApiError && (error.code === 'INVALID_STATE' || error.code === 'NOT_FOUND'))
      return null;
    throw error;
  }
}

/** The rows of the state table as an independent list: action, from, to, and its events. */
const ROWS: Record<string, { from: string[]; to: Record<string, string[]> }> = {
  send: { from: ['DRAFT'], to: { SENT: ['envelope.sent'] } },
  cancel: { from: ['DRAFT', 'SENT', 'IN_PROGRESS', 'DECLINED'], to: { CANCELLED: ['envelope.cancelled'] } },
  remind: { from: ['SENT', 'IN_PROGRESS'], to: { same: [] } },
  view: { from: ['SENT', 'IN_PROGRESS'], to: { same: ['envelope.viewed'] } },
  sign: {
    from: ['SENT', 'IN_PROGRESS'],
    to: { IN_PROGRESS: ['envelope.signed'], COMPLETED: ['envelope.signed', 'envelope.completed'] },
  },
  decline: { from: ['SENT', 'IN_PROGRESS'], to: { DECLINED: ['envelope.declined'] } },
  expire: { from: ['SENT', 'IN_PROGRESS'], to: { EXPIRED: ['envelope.expired'] } },
};

function checkRow(what: string, before: EnvelopeRecord, step: LifecycleStep): void {
  const row = ROWS[what];
  expect(row?.from).toContain(before.status);
  const to = step.envelope.status;
  const key = what === 'view' || what === 'remind' ? 'same' : to;
  const again = what === 'view' && step.envelope === before;
  expect(step.events.map((event) => event.event)).toEqual(again ? [] : row?.to[key]);
  if (key === 'same') expect(to).toBe(before.status);
}

function checkInvariants(envelope: EnvelopeRecord): void {
  const { status, signers } = envelope;
  const all = signers.every((signer) => signer.status === 'SIGNED');
  expect(status === 'COMPLETED').toBe(all);
  expect(envelope.completedAt !== null).toBe(status === 'COMPLETED');
  expect(envelope.signedDocumentStorageKey !== null).toBe(status === 'COMPLETED');
  expect(envelope.certificateStorageKey !== null).toBe(status === 'COMPLETED');
  if (status === 'DRAFT') expect(envelope.sentAt).toBeNull();
  if (status === 'SENT') expect(signers.some((signer) => signer.status === 'SIGNED')).toBe(false);
  if (status === 'IN_PROGRESS') expect(signers.some((signer) => signer.status === 'SIGNED')).toBe(true);
  for (const signer of signers) {
    expect(signer.signedAt !== null).toBe(signer.status === 'SIGNED');
    expect(signer.declinedAt !== null).toBe(signer.status === 'DECLINED');
  }
  if (envelope.signingOrder === 'SEQUENTIAL') {
    const asked = signers.filter((signer) => signer.status !== 'PENDING').map((signer) => signer.order);
    const unsigned = signers.filter((signer) => signer.status !== 'SIGNED').map((signer) => signer.order);
    if (asked.length > 0 && unsigned.length > 0)
      expect(Math.max(...asked)).toBeLessThanOrEqual(Math.min(...unsigned));
  }
  if (predicates.isActive(envelope)) expect(predicates.nextSigner(envelope)).toBeDefined();
}

/** Whether the table allows the action, derived from the status and the signer alone. */
function isAllowed(what: string, envelope: EnvelopeRecord, signer: number): boolean {
  if (!ROWS[what]?.from.includes(envelope.status)) return false;
  if (['send', 'cancel', 'expire'].includes(what)) return true;
  if (what === 'remind' && signer === 5) return true;
  return ['SENT', 'VIEWED'].includes(envelope.signers[signer]?.status ?? '');
}

test('Any sequence of actions follows the state table', () => {
  fc.assert(
    fc.property(scenario, ({ orders, signingOrder, actions }) => {
      let envelope = fresh(orders, signingOrder);
      checkInvariants(envelope);
      actions.forEach(({ what, signer }, index) => {
        const before = structuredClone(envelope);
        const step = attempt(envelope, what, signer, START + index * HOUR);
        expect([what, envelope.status, step !== null]).toEqual([
          what,
          envelope.status,
          isAllowed(what, envelope, signer),
        ]);
        expect(envelope).toEqual(before);
        if (!step) return;
        checkRow(what, envelope, step);
        checkInvariants(step.envelope);
        expect(step.envelope.history.slice(0, before.history.length)).toEqual(before.history);
        envelope = step.envelope;
      });
    }),
    { numRuns: 500 },
  );
});
