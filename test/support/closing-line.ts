import type { Reporter, TestModule } from 'vitest/node';

/**
 * Closes a run with plain lines that any reader of a log understands: `12 passed, 0 failed, 1 skipped`, and what would
 * let the skipped ones run (test/support/tools.ts).
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const count = { passed: 0, failed: 0, skipped: 0 };
    const packages = new Set<string>();
    let lacking = 0;
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state !== 'pending') count[state]++;
        const { lacks = [] } = test.meta();
        if (lacks.length > 0) lacking++;
        for (const name of lacks) packages.add(name);
      }
      count.failed += module.errors().length;
    }
    process.stdout.write(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`);
    process.stdout.write(skippedLine(lacking, [...packages]));
  }
}

/** `Skipped without curl, jq: 3 tests. To run them: apt-get install curl jq`. */
export function skippedLine(count: number, packages: readonly string[]): string {
  if (count === 0) return '';
  const names = packages.toSorted();
  const [tests, them] = count === 1 ? ['1 test', 'it'] : [`${count} tests`, 'them'];
  return `Skipped without ${names.join(', ')}: ${tests}. To run ${them}: apt-get install ${names.join(' ')}\n`;
}
