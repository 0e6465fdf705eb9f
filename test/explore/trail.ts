import type { Finding, Report, TrailLine } from './explore.ts';
import type { Ended } from './process.ts';
import { formatChoices, formatSettings, parseChoices, parseSettings, type Settings } from './settings.ts';

/** Everything that is needed to run a schedule again. */
export interface Schedule {
  actor: string;
  settings: Settings;
  choices: number[];
}

/** Returns a schedule as one word, such as `create:k1,each:0x4.2.1`. */
export function formatSchedule({
  actor,
  settings,
  choices,
}: Omit<Schedule, 'choices'> & { choices: readonly number[] }): string {
  return [actor, formatSettings(settings), formatChoices(choices)].join(':');
}

/** @throws Error for text that `formatSchedule` doesn't return. */
export function parseSchedule(text: string): Schedule {
  const [actor = '', settings = '', choices = ''] = text.split(':');
  return { actor, settings: parseSettings(settings), choices: parseChoices(choices) };
}

/** Returns one line per step: the time in seconds, who, and what. */
export function formatTrail(trail: readonly TrailLine[]): string {
  return trail
    .map(({ at, who, says }) => `${at.toFixed(1).padStart(7)} s  ${who.padEnd(6)}  ${says}\n`)
    .join('');
}

export function endOf(ended: Ended): string {
  if (ended.kind === 'stuck') return 'waits for nothing that is explored';
  if (ended.kind === 'done') return `sent ${ended.outcome.sent.join(', ') || 'nothing'}`;
  return ended.error;
}

/** Returns the counts of an exploration as lines. */
export function formatReport(report: Report, seconds: number): string {
  const { schedules, states, pruned, ends, steps, counts, outcomes, deviations, isComplete } = report;
  const some = (values: readonly (readonly [string, number])[]) =>
    values.map(([name, count]) => `${name} ${count.toLocaleString('en')}`).join(', ');
  const depth = isComplete
    ? 'all schedules'
    : `all schedules with up to ${Math.max(0, deviations)} deviations`;
  return [
    `Explored ${depth} in ${seconds.toFixed(1)} s (${Math.round(schedules / seconds)} schedules per second).`,
    some([
      ['schedules', schedules],
      ['states', states],
      ['pruned', pruned],
      ['ends', ends],
      ['steps', steps],
    ]),
    some([
      ['histories', report.histories],
      ['observations', report.observations],
    ]),
    some(Object.entries(counts)),
    `ends: ${some([...outcomes].sort(([, one], [, other]) => other - one))}`,
    '',
  ].join('\n');
}

export function headingOf({ kind, says }: Finding): string {
  return `${kind}: ${says}`;
}
