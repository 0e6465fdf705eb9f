import fc from 'fast-check';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { ENVELOPE_STATUSES } from '../../../src/kernel/vocabulary.ts';
import type { EnvelopeRecord } from '../../../src/sandbox/model.ts';
import { DEFAULT_RULES } from '../../../src/sandbox/service/base/choices.ts';
import { draftEnvelope } from '../../../src/sandbox/service/engine/draft.ts';
import { StoreState } from '../../../src/sandbox/service/store/state.ts';
import { ada, lease, listIn, startRig } from './rig.ts';

test('The list is sorted by createdAt, even if the clock was set back between two envelopes', async () => {
  let now = Date.parse('2026-03-01T12:00:00Z');
  const rig = await startRig({ clock: { ...systemClock, now: () => now } });
  const ids: string[] = [];
  for (const back of [0, 3_600_000, 1_800_000, 0]) {
    now -= back;
    ids.push((await rig.create()).id);
    now += back + 1_000;
  }
  const [noon, eleven, half, last] = ids;
  const listed = async (query = '') =>
    listIn(await rig.api('GET', `/esign/envelopes${query}`)).data.map(({ id }) => id);
  expect(await listed()).toEqual([last, noon, half, eleven]);
  expect(await listed('?status=DRAFT&pageSize=3')).toEqual([last, noon, half]);
  await rig.control('POST', '/choices', { 'list-order': 'asc' });
  expect(await listed('?page=2&pageSize=3')).toEqual([last]);
});

function checkPages(
  state: StoreState,
  all: EnvelopeRecord[],
  status: string | undefined,
  slice: { start: number; count: number },
): void {
  const fit = all
    .filter((one) => one.orgId === 'org_1' && (status === undefined || one.status === status))
    .sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
  for (const from of ['newest', 'oldest'] as const) {
    const sorted = from === 'oldest' ? fit : fit.toReversed();
    const { items, total } = state.envelopePage('org_1', { status, ...slice, from });
    expect([total, items]).toEqual([fit.length, sorted.slice(slice.start, slice.start + slice.count)]);
  }
}

test('A page of any list is part of all envelopes sorted, for any times and changes', () => {
  let made = 0;
  const envelope = (orgId: string, minute: number): EnvelopeRecord =>
    draftEnvelope(orgId, lease, { templateId: lease.id, signers: [ada] }, minute * 60_000, {
      randomId: () => {
        made += 1;
        return String(made);
      },
      rules: DEFAULT_RULES,
    });
  const step = fc.record({
    org: fc.constantFrom('org_1', 'org_2'),
    minute: fc.nat(20),
    change: fc.option(fc.record({ which: fc.nat(30), status: fc.constantFrom(...ENVELOPE_STATUSES) })),
  });
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 40 }),
      fc.nat(12),
      fc.integer({ min: 1, max: 6 }),
      (steps, start, count) => {
        const state = new StoreState();
        const all: EnvelopeRecord[] = [];
        const put = (value: EnvelopeRecord) => state.apply({ kind: 'envelope', value });
        for (const { org, minute, change } of steps) {
          const known = change && all[change.which % Math.max(1, all.length)];
          const value = known ? { ...known, status: change.status } : envelope(org, minute);
          if (known) all[all.indexOf(known)] = value;
          else all.push(value);
          put(value);
          // A compaction may replay a change that is already applied.
          put(value);
        }
        for (const status of [undefined, ...ENVELOPE_STATUSES])
          checkPages(state, all, status, { start, count });
      },
    ),
    { numRuns: 200 },
  );
});
