import { expect, it } from 'vitest';
import { createWithId, createWithoutId } from './actors.ts';
import { explore, replay } from './explore.ts';
import { ALL_RULES, type Rules, reserveSettleSend } from './reference.ts';
import { DEFAULTS, type Settings } from './settings.ts';
import { formatSchedule, parseSchedule } from './trail.ts';

const NONE = { twice: 0, canceled: 0, lost: 0, stuck: 0, crashed: 0 };

it.each([
  ['two processes of a machine with the same request ID', createWithId(), { machines: 1 }],
  ['a process that loses a reply', createWithId(), { processes: 1, machines: 1, losses: 1 }],
  ['a process that is killed', createWithId(), { processes: 1, machines: 1, kills: 1 }],
  ['two machines without a request ID', createWithoutId, {}],
])('finds nothing wrong with %s', async (_, actor, changes) => {
  const { counts, isComplete } = await explore(actor, { ...DEFAULTS, ...changes });
  expect({ ...counts, isComplete }).toMatchObject({ ...NONE, isComplete: true });
});

it.each<[string, Partial<Rules>, Partial<Settings>, string]>([
  ['sends its own draft', { oldest: false }, {}, 'twice'],
  ['decides without waiting', { waits: false }, { skew: true }, 'twice'],
  ['cancels nothing', { tidies: false }, {}, 'leftover'],
])('finds what is wrong with a process that %s', async (_, rules, changes, kind) => {
  const settings = { ...DEFAULTS, ...changes };
  const actor = reserveSettleSend({ ...ALL_RULES, ...rules });
  const { findings } = await explore(actor, settings, { untilFound: true, deviations: 4 });
  expect(findings.map((one) => one.kind)).toContain(kind);
});

it('runs the schedule of a finding again, from its text', async () => {
  const actor = reserveSettleSend({ ...ALL_RULES, oldest: false });
  const settings: Settings = { ...DEFAULTS, skew: true };
  const { findings } = await explore(actor, settings, { untilFound: true });
  const { choices = [], says } = findings.find(({ kind }) => kind === 'twice') ?? {};
  const schedule = parseSchedule(formatSchedule({ actor: 'reference', settings, choices }));
  const { violation, trail } = await replay(actor, schedule.settings, schedule.choices);
  expect(violation).toEqual({ kind: 'twice', says });
  expect(trail[0]).toEqual({ at: 0, who: 'A', says: 'GET /envelopes' });
});
