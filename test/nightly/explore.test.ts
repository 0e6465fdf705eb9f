import { expect, it } from 'vitest';
import { createWithId } from '../explore/actors.ts';
import { explore } from '../explore/explore.ts';
import { ALL_RULES, type Rules, reserveSettleSend } from '../explore/reference.ts';
import { DEFAULTS, type Settings } from '../explore/settings.ts';
import { formatReport } from '../explore/trail.ts';

const SECONDS = Number(process.env.EXPLORE_SECONDS ?? 60);
const NONE = { twice: 0, canceled: 0, lost: 0, stuck: 0, crashed: 0 };
const ONE = { processes: 1, machines: 1 };

it.each<[string, Partial<Settings>]>([
  ['two processes of a machine, one of which is killed', { machines: 1, kills: 1 }],
  ['a process that is killed twice and loses two replies', { ...ONE, kills: 2, losses: 2 }],
  ['a process that is killed, and a list that falls behind', { ...ONE, kills: 1, lag: 'each' }],
])('emails nobody twice with %s', async (name, changes) => {
  const began = performance.now();
  const report = await explore(createWithId(), { ...DEFAULTS, ...changes }, { seconds: SECONDS });
  process.stdout.write(`${name}: ${formatReport(report, (performance.now() - began) / 1_000)}`);
  expect(report.counts).toMatchObject(NONE);
});

it.each<[string, Partial<Settings>]>([
  ['two machines', { lag: 'together', skew: true }],
  ['two machines with two kills and two lost replies', { kills: 2, losses: 2, lag: 'together', skew: true }],
  ['a process that is killed twice', { ...ONE, kills: 2, lag: 'each' }],
])('finds nothing wrong with the reference with %s', async (name, changes) => {
  const began = performance.now();
  const report = await explore(
    reserveSettleSend(ALL_RULES),
    { ...DEFAULTS, ...changes },
    { seconds: SECONDS },
  );
  process.stdout.write(`${name}: ${formatReport(report, (performance.now() - began) / 1_000)}`);
  expect(report.counts).toMatchObject(NONE);
});

it.each<[string, Partial<Rules>, Partial<Settings>]>([
  ['prefers an older draft to what was sent', { sentFirst: false }, { lag: 'each' }],
  ['decides immediately after a kill', { minute: false }, { ...ONE, lag: 'each', kills: 2 }],
])('finds what is wrong with a process that %s', async (_, rules, changes) => {
  const actor = reserveSettleSend({ ...ALL_RULES, ...rules });
  const { findings } = await explore(actor, { ...DEFAULTS, ...changes }, { untilFound: true });
  expect(findings.map(({ kind }) => kind)).toContain('twice');
});
