import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/**
 * Prints the result of a run in plain lines: `12 passed, 0 failed, 1 skipped, 30 left to npm run test:full`, and the
 * packages that the skipped tests need (test/support/tools.ts). Writes the files with failures for scripts/vitest.js.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const { ESIGN_FAILED_FILES: failures } = process.env;
    const failedFiles = modules.filter((module) => module.state() === 'failed');
    if (failures) writeFileSync(failures, failedFiles.map((module) => module.relativeModuleId).join('\n'));
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const withState = (state: string) => tests.filter((test) => test.result().state === state);
    const lacksOf = (test: TestCase) => test.meta().lacks ?? [];
    const skipped = withState('skipped');
    const lacking = skipped.filter((test) => lacksOf(test).length > 0);
    const left = skipped.filter((test) => test.tags.includes('full') && !lacking.includes(test));
    const failed = withState('failed').length + modules.flatMap((module) => module.errors()).length;
    const parts = [`${withState('passed').length} passed`, `${failed} failed`];
    parts.push(`${skipped.length - left.length} skipped`);
    const flaky = tests.filter((test) => test.diagnostic()?.flaky);
    if (flaky.length > 0) parts.push(`${flaky.length} passed only when tried again`);
    if (left.length > 0) parts.push(`${left.length} left to npm run test:full`);
    process.stdout.write(`${parts.join(', ')}\n`);
    for (const test of flaky) process.stdout.write(`Passed only when tried again: ${test.fullName}\n`);
    if (lacking.length === 0) return;
    const packages = [...new Set(lacking.flatMap(lacksOf))].toSorted().join(' ');
    process.stdout.write(`${lacking.length} need programs: apt-get install ${packages}\n`);
  }
}
