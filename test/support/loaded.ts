import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import type { Home } from './cli.ts';

/** What a command made Node load. */
export interface Loaded {
  /** Files of JavaScript. */
  files: number;
  bytes: number;
  /** Node's own modules. */
  builtins: number;
}

/**
 * Runs a command and counts what Node loaded for it. Files are those that V8 reports coverage of, which is all it ran;
 * Node's own modules are counted by a file that is preloaded, which counts as nothing.
 */
export async function loadedBy(
  home: Home,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Loaded> {
  const folder = home.path(`loaded-${crypto.randomUUID()}`);
  const counter = home.path('count.cjs');
  const counted = `${folder}.builtins`;
  await writeFile(
    counter,
    `process.on('exit', () => require('node:fs').writeFileSync(process.env.COUNTED, String(process.moduleLoadList.length)));`,
  );
  const { code, stderr } = await home.run(args, {
    env: { ...env, NODE_V8_COVERAGE: folder, NODE_OPTIONS: `--require ${counter}`, COUNTED: counted },
  });
  if (code !== 0) throw new Error(`esign ${args.join(' ')} ended with ${code}: ${stderr}`);
  const files = (await coveredFiles(folder)).filter((file) => file !== counter);
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  return {
    files: files.length,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    builtins: Number(await readFile(counted, 'utf8')),
  };
}

async function coveredFiles(folder: string): Promise<string[]> {
  const urls = new Set<string>();
  for (const name of await readdir(folder)) {
    const report = parseJson(await readFile(join(folder, name), 'utf8'));
    const results = isRecord(report) && Array.isArray(report.result) ? report.result : [];
    for (const one of results) {
      if (isRecord(one) && typeof one.url === 'string' && one.url.startsWith('file:')) urls.add(one.url);
    }
  }
  return [...urls].map((url) => fileURLToPath(url));
}
