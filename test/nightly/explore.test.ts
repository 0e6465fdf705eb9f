import { expect, it } from 'vitest';
import type { Actor } from '../explore/actor.ts';
import { createWithId } from '../explore/actors.ts';
import { type BrokenRule, withBrokenRule } from '../explore/broken-rules.ts';
import { explore } from '../explore/explore.ts';
import { sendList } from '../explore/run-actor.ts';
import { DEFAULTS, type Settings } from '../explore/settings.ts';
import { formatReport } from '../explore/trail.ts';

const SECONDS = Number(process.env.EXPLORE_SECONDS ?? 60);
const NONE = { twice: 0, canceled: 0, lost: 0, stuck: 0, crashed: 0 };
const ONE = { processes: 1, machines: 1 };

it.each<[string, Actor, Partial<Settings>]>([
  ['create, by two machines', createWithId, { lag: 'together', skew: true }],
  [
    'create, by two machines with two kills and two lost replies',
    createWithId,
    { kills: 2, losses: 2, lag: 'together', skew: true },
  ],
  ['create, by three machines', createWithId, { processes: 3, machines: 3, skew: true }],
  ['create, by two machines, one of which loses its state', createWithId, { kills: 1, wipes: 1 }],
  ['create, by two processes of a machine, one of which is killed', createWithId, { machines: 1, kills: 1 }],
  ['create, by a process that is killed twice', createWithId, { ...ONE, kills: 2, losses: 2, lag: 'each' }],
  ['create, while a person cancels a draft', createWithId, { cancels: 1 }],
  [
    'a list, by two machines with two kills and two lost replies',
    sendList,
    { kills: 2, losses: 2, skew: true },
  ],
  ['a list, by a process that is killed twice', sendList, { ...ONE, kills: 2, losses: 1, lag: 'each' }],
])('emails nobody twice with %s', async (name, actor, changes) => {
  const began = performance.now();
  const report = await explore(actor, { ...DEFAULTS, ...changes }, { seconds: SECONDS });
  process.stdout.write(`${name}: ${formatReport(report, (performance.now() - began) / 1_000)}`);
  expect(report.counts).toMatchObject(NONE);
});

it.each<[BrokenRule, 'create' | 'run', Partial<Settings>]>([
  ['prefers an older draft to what was sent', 'create', { lag: 'each' }],
  ['ignores what an earlier process may have left', 'create', { ...ONE, lag: 'each', kills: 2, wipes: 1 }],
])('finds what is wrong with a process that %s', async (rule, name, changes) => {
  const limits = { untilFound: true, seconds: 300 };
  const { findings } = await withBrokenRule(rule, (code) =>
    code.explore(code.ACTORS[name] ?? code.createWithId, { ...DEFAULTS, ...changes }, limits),
  );
  expect(findings.map(({ kind }) => kind)).toContain('twice');
});
