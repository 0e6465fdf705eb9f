import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { reachedFiles, reportText } from '../../scripts/coverage/report.js';
import { spawnedCoverage } from '../../scripts/coverage/spawned.js';

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

  const [alone] = reachedFiles(one.map, one.map, root);
  expect(alone).toMatchObject({ file: 'src/words/said.ts', missed: ['9-10', '12', '16'] });

  const [file] = reachedFiles(one.map, both.map, root);
  expect(file).toEqual({
    file: 'src/words/said.ts',
    lines: { total: 7, covered: 5 },
    inProcess: { total: 7, covered: 3 },
    spawned: { total: 7, covered: 5 },
    functions: { total: 2, covered: 1 },
    missed: ['12', '16'],
  });
});

it('shows a sum for each folder, and names the least covered files', async () => {
  const { map } = await spawned('three');
  const [file] = reachedFiles(map, map, root);
  if (file === undefined) throw new Error('no file');
  const poor = { ...file, file: 'src/words/poor.ts', lines: { total: 8, covered: 1 } };
  expect(reportText([{ ...file, lines: { total: 8, covered: 8 } }, poor])).toBe(
    [
      '           files  lines     %  functions      %',
      'src/words      2   9/16  56.3        4/4  100.0',
      'whole          2   9/16  56.3        4/4  100.0',
      '',
      'Files under 70 % of their lines:',
      'src/words/poor.ts  1/8  12.5',
    ].join('\n'),
  );
});
