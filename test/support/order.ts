import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that mostly wait, longest first. The others keep the processors busy. */
const WAITING = [
  'e2e/errors',
  'e2e/stopped-writes',
  'webhooks/receive/receiver-abuse',
  'webhooks/health/listener-health',
  'e2e/waiting',
  'e2e/listen-until',
  'e2e/watch',
  'e2e/mcp',
  'webhooks/drill/drill',
  'e2e/watch-live',
  'e2e/rate-window',
  'e2e/listen-health',
  'e2e/canary',
  'e2e/forwarding',
  'e2e/waves',
  'e2e/stand-ins',
  'e2e/receivers',
  'e2e/tunnel',
  'sandbox/service/faults',
  'packaging/reproducible',
  'e2e/drill',
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
