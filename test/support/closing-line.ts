import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** How many of the slowest files are named. */
const SLOWEST = 10;

/**
 * Prints the slowest files, then the result of a run in plain lines: `12 passed, 0 failed, 1 skipped, 30 left to npm run test:full`,
 * and the packages that the skipped tests need (test/support/tools.ts).
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const took = modules.map((module) => ({
      name: module.relativeModuleId,
      ms: module.diagnostic().duration,
    }));
    if (took.length > SLOWEST) {
      const slowest = took.toSorted((one, other) => other.ms - one.ms).slice(0, SLOWEST);
      const list = slowest.map(({ name, ms }) => `${name} ${(ms / 1000).toFixed(1)} s`);
      process.stdout.write(`The slowest files: ${list.join(', ')}\n`);
    }
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const withState = (state: string) => tests.filter((test) => test.result().state === state);
    const lacksOf = (test: TestCase) => test.meta().lacks ?? [];
    const skipped = withState('skipped');
    const lacking = skipped.filter((test) => lacksOf(test).length > 0);
    const left = skipped.filter((test) => test.tags.includes('full') && !lacking.includes(test));
    const failed = withState('failed').length + modules.flatMap((module) => module.errors()).length;
    const parts = [`${withState('passed').length} passed`, `${failed} failed`];
    parts.push(`${skipped.length - left.length} skipped`);
    if (left.length > 0) parts.push(`${left.length} left to npm run test:full`);
    process.stdout.write(`${parts.join(', ')}\n`);
    if (lacking.length === 0) return;
    const packages = [...new Set(lacking.flatMap(lacksOf))].toSorted().join(' ');
    process.stdout.write(`${lacking.length} need programs: apt-get install ${packages}\n`);
  }
}
