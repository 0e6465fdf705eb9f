import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { type Home, PACKAGE } from './cli.ts';

const ROOT = join(import.meta.dirname, '../..');

/** What a command made Node load. */
export interface Loaded {
  /** Modules of the sources and of packages, which the bundle's files are made of, and files that are none of its. */
  modules: number;
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
    modules: await modulesIn(files),
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    builtins: Number(await readFile(counted, 'utf8')),
  };
}

/** The build says how many modules are in each file; a count of files would change with every split of the bundle. */
async function modulesIn(files: readonly string[]): Promise<number> {
  const read = parseJson(await readFile(join(ROOT, 'dist/.modules.json'), 'utf8'));
  const counts = new Map(isRecord(read) ? Object.entries(read) : []);
  return files.reduce((sum, file) => {
    const count = counts.get(
      relative(PACKAGE ?? ROOT, file)
        .split(sep)
        .join('/'),
    );
    return sum + (typeof count === 'number' ? count : 1);
  }, 0);
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
