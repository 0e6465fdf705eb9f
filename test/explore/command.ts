import { parseArgs } from 'node:util';
import type { Actor } from './actor.ts';
import { ACTORS } from './actors.ts';
import { explore, replay } from './explore.ts';
import { COUNTED, DEFAULTS, LAGS, type Settings } from './settings.ts';
import { formatReport, formatSchedule, formatTrail, headingOf, parseSchedule } from './trail.ts';
import { VIOLATIONS } from './world.ts';

/*
 * Explores schedules for as long as wanted, or runs one again (`npm run explore`):
 *   --actor create --processes 2 --kills 2 --losses 2 --lag each --seconds 300
 *   --schedule create:k1:0x4.2
 */
const TEXT = { type: 'string' } as const;
const OPTIONS = {
  actor: TEXT,
  schedule: TEXT,
  seconds: TEXT,
  deviations: TEXT,
  lag: TEXT,
  skew: { type: 'boolean' },
  first: { type: 'boolean' },
  processes: TEXT,
  machines: TEXT,
  kills: TEXT,
  wipes: TEXT,
  losses: TEXT,
  reruns: TEXT,
  cancels: TEXT,
  passes: TEXT,
  slow: TEXT,
  switches: TEXT,
} as const;

/** Returns the exit code: 1 if something was found that must never happen. */
export async function main(words: string[]): Promise<number> {
  const { values } = parseArgs({ args: words, options: OPTIONS });
  if (values.schedule !== undefined) return showSchedule(values.schedule);
  const settings: Settings = {
    ...DEFAULTS,
    skew: values.skew ?? false,
    lag: lagOf(values.lag ?? DEFAULTS.lag),
  };
  for (const name of COUNTED) settings[name] = countOf(name, values[name]) ?? settings[name];
  settings.machines = countOf('machines', values.machines) ?? settings.processes;
  const [seconds, deviations] = [
    countOf('seconds', values.seconds),
    countOf('deviations', values.deviations),
  ];
  const name = values.actor ?? 'create';
  const actor = actorOf(name);
  const began = performance.now();
  const report = await explore(actor, settings, { seconds, deviations, untilFound: values.first });
  for (const finding of report.findings) {
    const { choices } = finding;
    const { trail } = await replay(actor, settings, choices);
    const schedule = formatSchedule({ actor: name, settings, choices });
    process.stdout.write(`${headingOf(finding)}\n${formatTrail(trail)}--schedule ${schedule}\n\n`);
  }
  process.stdout.write(formatReport(report, (performance.now() - began) / 1_000));
  return VIOLATIONS.some((kind) => report.counts[kind] > 0) ? 1 : 0;
}

async function showSchedule(text: string): Promise<number> {
  const { actor, settings, choices } = parseSchedule(text);
  const { trail, violation } = await replay(actorOf(actor), settings, choices);
  process.stdout.write(formatTrail(trail));
  if (violation) process.stdout.write(`${violation.kind}: ${violation.says}\n`);
  return violation ? 1 : 0;
}

function actorOf(name: string): Actor {
  const actor = ACTORS[name];
  if (actor === undefined) throw new Error(`--actor is one of ${Object.keys(ACTORS).join(', ')}`);
  return actor;
}

function lagOf(text: string): Settings['lag'] {
  const lag = LAGS.find((one) => one === text);
  if (lag === undefined) throw new Error(`--lag is one of ${LAGS.join(', ')}`);
  return lag;
}

function countOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new Error(`--${name} is a number`);
  return Number(text);
}
