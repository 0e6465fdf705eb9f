import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that mostly wait, longest first. The others keep the processors busy. */
const WAITING = [
  'promises/errors',
  'process/stopped-writes',
  'process/listen',
  'promises/lost-replies',
  'webhooks/receive/receiver',
  'process/network',
  'promises/watch',
  'promises/mcp',
  'process/watch-live',
  'process/terminal',
  'promises/secrets',
  'promises/forwarding',
  'process/stopped-replacements',
  'promises/listen',
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
