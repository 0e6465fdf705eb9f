import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that mostly wait, longest first. The others keep the processors busy. */
const WAITING = [
  'promises/errors',
  'process/stopped-writes',
  'webhooks/receive/receiver',
  'process/listen',
  'process/waiting',
  'promises/watch',
  'promises/mcp',
  'process/watch-live',
  'promises/rate-window',
  'promises/canary',
  'promises/forwarding',
  'promises/stand-ins',
  'sandbox/service/faults',
  'packaging/reproducible',
  'promises/drill',
];
/** How many other files start after each of them, so that the workers never all wait at the same time. */
const OTHERS = 4;

/** Starts large files first, as Vitest does, so that no worker still waits for one at the end, and mixes in those that mostly wait. */
export class Mixed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = new Set(sorted.map((file) => file.project));
    return [...projects].flatMap((project) => mix(sorted.filter((file) => file.project === project)));
  }
}

function mix(files: readonly TestSpecification[]): TestSpecification[] {
  const others = files.filter((file) => rank(file) < 0);
  const waiting = files.filter((file) => rank(file) >= 0).toSorted((one, other) => rank(one) - rank(other));
  const start = waiting.flatMap((file, index) => {
    const first = index * OTHERS;
    return [file, ...others.slice(first, first + OTHERS)];
  });
  return [...start, ...others.slice(waiting.length * OTHERS)];
}

/** The position in WAITING, or -1. */
function rank({ moduleId }: TestSpecification): number {
  return WAITING.findIndex((file) => moduleId.endsWith(`/test/${file}.test.ts`));
}
