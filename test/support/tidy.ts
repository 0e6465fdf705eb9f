import * as fs from 'node:fs';
import * as http from 'node:http';
import * as https from 'node:https';
import * as net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, vi } from 'vitest';
import { closeOpened } from './opened.ts';

/*
 * Test files share a process. What a file opened with a helper is closed at its end (opened.ts). The file fails if it leaves
 * something behind that could break a later one: process listeners, variables, the working directory, replaced functions, open
 * servers, timers, or child processes. Vitest runs the first registered hook last, so this one runs after those of the file.
 */
const before = state();

afterAll(async () => {
  vi.restoreAllMocks();
  await closeOpened();
  const left = await leftovers();
  if (left.length > 0) throw new Error(`This test file leaves behind: ${left.join(', ')}`);
});

interface State {
  counts: Map<string, number>;
  values: Map<string, unknown>;
}

/** How long servers, timers, and child processes have to end. Only a file that leaves something behind waits so long. */
const GRACE_MS = 10_000;
const STEP_MS = 20;

async function leftovers(): Promise<string[]> {
  for (let waited = 0; ; waited += STEP_MS) {
    const left = differences(before, state());
    if (left.length === 0 || waited >= GRACE_MS) return left;
    await sleep(STEP_MS, undefined, { ref: false });
  }
}

function state(): State {
  const resources = process
    .getActiveResourcesInfo()
    .filter((name) => /^(Timeout|TCPServerWrap|PipeServerWrap|ProcessWrap|Worker)$/.test(name));
  const counts = new Map<string, number>();
  for (const name of resources) counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const name of process.eventNames())
    counts.set(`listener for ${String(name)}`, process.listenerCount(name));
  const values = new Map<string, unknown>([
    ['working directory', process.cwd()],
    ['fake timers', vi.isFakeTimers()],
    ['process.exitCode', process.exitCode],
    ...Object.entries(process.env).map(([name, value]) => [`variable ${name}`, value] as const),
    // Vitest replaces chdir in the first file of a worker.
    ...functionsOf('process', process).filter(([name]) => name !== 'process.chdir'),
    ...functionsOf('process.stdout', process.stdout),
    ...functionsOf('process.stderr', process.stderr),
    ...functionsOf('console', console),
    ...functionsOf('Date', Date),
    // They are also imported here so that a file which mocks HTTP isn't the first: later files would import its mocks.
    ...Object.entries({ fs, http, https, net }).flatMap(([name, module]) => functionsOf(name, module)),
    ...(['fetch', 'Date', 'setTimeout', 'setInterval', 'setImmediate'] as const).map(
      (name) => [name, globalThis[name]] as const,
    ),
  ]);
  return { counts, values };
}

/** Accessors are skipped: some create what they return. */
function functionsOf(name: string, object: object): (readonly [string, unknown])[] {
  return Object.entries(Object.getOwnPropertyDescriptors(object)).flatMap(([key, { value }]) =>
    typeof value === 'function' ? [[`${name}.${key}`, value] as const] : [],
  );
}

function differences(one: State, other: State): string[] {
  const more = [...other.counts].flatMap(([name, count]) => {
    const extra = count - (one.counts.get(name) ?? 0);
    return extra > 0 ? [`${extra} × ${name}`] : [];
  });
  const names = new Set([...one.values.keys(), ...other.values.keys()]);
  const changed = [...names].filter((name) => one.values.get(name) !== other.values.get(name));
  const fewer = [...one.counts].filter(
    ([name, count]) => name.startsWith('listener') && (other.counts.get(name) ?? 0) < count,
  );
  return [...more, ...changed, ...fewer.map(([name]) => `a removed ${name}`)];
}
