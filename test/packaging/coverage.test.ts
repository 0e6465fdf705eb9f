import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addSpawned, spawnedCoverage } from '../../scripts/spawned-coverage.js';

/* The output of `npm run test:coverage` for a small program that runs as processes. */
const SOURCE = `interface Word {
  text: string;
}

export function said(word: Word): string {
  if (word.text === 'one') {
    return 'first';
  }
  if (word.text === 'two') {
    return 'second';
  }
  return other();
}

function other(): string {
  return 'other';
}

process.stdout.write(said({ text: process.argv[2] ?? '' }));
`;
const run = promisify(execFile);
let root: string;

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'esign-coverage-')));
  await mkdir(join(root, 'src/words'), { recursive: true });
  await writeFile(join(root, 'src/words/said.ts'), SOURCE);
  await build({
    entryPoints: [join(root, 'src/words/said.ts')],
    outfile: join(root, 'dist/said.js'),
    format: 'esm',
    sourcemap: 'external',
  });
  await writeFile(join(root, 'package.json'), '{"type":"module"}');
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** The lines that processes with these arguments execute. */
async function spawned(...words: string[]) {
  const raw = join(root, `raw-${words.join('-')}`);
  await mkdir(raw);
  for (const word of words) {
    const env = { ...process.env, NODE_V8_COVERAGE: raw };
    await run(process.execPath, [join(root, 'dist/said.js'), word], { env });
  }
  await writeFile(join(raw, 'coverage-1-1-0.json'), '{"result":[{"scriptId":"1","url":"fil');
  return spawnedCoverage(raw, join(root, 'dist'), root);
}

it('counts the lines that any process executes, and ignores a process that was killed while writing', async () => {
  const [one, both] = [await spawned('one'), await spawned('two', 'one')];
  expect([both.processes, both.torn]).toEqual([2, 1]);

  const name = join(root, 'src/words/said.ts');
  const alone = one.map.fileCoverageFor(name).getUncoveredLines();
  addSpawned(one.map, both.map);
  const together = one.map.fileCoverageFor(name);
  expect([alone, together.getUncoveredLines()].map((lines) => lines.map(Number))).toEqual([
    [9, 10, 12, 16],
    [12, 16],
  ]);
  expect(together.toSummary().toJSON()).toMatchObject({
    lines: { total: 7, covered: 5 },
    functions: { total: 2, covered: 1 },
  });
});
