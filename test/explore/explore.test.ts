import { expect, it } from 'vitest';
import { createWithId, createWithoutId } from './actors.ts';
import { type BrokenRule, withBrokenRule } from './broken-rules.ts';
import { explore } from './explore.ts';
import { sendList } from './run-actor.ts';
import { DEFAULTS, type Settings } from './settings.ts';
import { formatSchedule, parseSchedule } from './trail.ts';

const NONE = { twice: 0, canceled: 0, lost: 0, stuck: 0, crashed: 0 };
const ONE = { processes: 1, machines: 1 };

it.each([
  ['create, by two machines', createWithId, { switches: 3 }],
  ['create, by a process that loses a reply', createWithId, { ...ONE, losses: 1 }],
  ['create, by a process that is killed', createWithId, { ...ONE, kills: 1 }],
  ['create without an ID, by two machines', createWithoutId, {}],
  ['a list, by two machines', sendList, { switches: 3 }],
  ['a list, by a process that is killed', sendList, { ...ONE, kills: 1 }],
])('emails nobody twice with %s', async (_, actor, changes) => {
  const { counts, isComplete } = await explore(actor, { ...DEFAULTS, ...changes });
  expect({ ...counts, isComplete }).toMatchObject({ ...NONE, isComplete: true });
});

it.each<[BrokenRule, Partial<Settings>, string]>([
  ['sends its own draft', {}, 'twice'],
  ['sends the draft of another', {}, 'twice'],
  ['decides without reading the list', {}, 'twice'],
  ['decides without waiting', { skew: true }, 'twice'],
  ['cancels nothing', {}, 'leftover'],
])('finds what is wrong with a process that %s', async (rule, changes, kind) => {
  const settings = { ...DEFAULTS, ...changes };
  const { findings } = await withBrokenRule(rule, (code) =>
    code.explore(code.createWithId, settings, { untilFound: true }),
  );
  expect(findings.map((one) => one.kind)).toContain(kind);
});

it('runs the schedule of a finding again, from its text', async () => {
  const settings: Settings = { ...DEFAULTS, skew: true };
  await withBrokenRule('sends its own draft', async (code) => {
    const { findings } = await code.explore(code.createWithId, settings, { untilFound: true });
    const { choices = [], says } = findings.find(({ kind }) => kind === 'twice') ?? {};
    const schedule = parseSchedule(formatSchedule({ actor: 'create', settings, choices }));
    const actor = code.ACTORS[schedule.actor] ?? code.createWithId;
    const { violation, trail } = await code.replay(actor, schedule.settings, schedule.choices);
    expect(violation).toEqual({ kind: 'twice', says });
    expect(trail[0]).toEqual({ at: 0, who: 'A', says: 'GET /envelopes' });
  });
});
