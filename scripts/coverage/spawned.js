import { readdir, readFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mergeProcessCovs } from '@bcoe/v8-coverage';
import convert from 'ast-v8-to-istanbul';
import libCoverage from 'istanbul-lib-coverage';
import { parseAstAsync } from 'vitest/node';

/** The number of processes to merge at a time. All of them wouldn't fit in memory. */
const BATCH = 40;

/**
 * Converts Node's coverage of the spawned processes to coverage of the sources. A process that was killed has written nothing, or
 * only part of a file.
 * @param {string} raw the folder in NODE_V8_COVERAGE
 * @param {string} dist the bundle that the processes ran, with its source maps
 * @param {string} root the repository
 */
export async function spawnedCoverage(raw, dist, root) {
  const maps = await mapsWithSources(dist, root);
  const map = libCoverage.createCoverageMap({});
  const { merged, processes, torn } = await mergedProcesses(raw, new Set(maps.keys()));
  for (const coverage of merged.result) {
    const path = fileURLToPath(coverage.url);
    const code = await readFile(path, 'utf8');
    map.merge(
      await convert({
        ast: await parseAstAsync(code),
        code,
        coverage,
        sourceMap: maps.get(path),
        wrapperLength: 0,
      }),
    );
  }
  map.filter((file) => isSource(file, root));
  return { map, processes, torn };
}

function isSource(file, root) {
  return relative(root, file).startsWith(`src${sep}`);
}

/** Returns the source maps of the bundle's files that contain our code. The other files contain only packages. */
async function mapsWithSources(dist, root) {
  const maps = new Map();
  const files = await readdir(dist, { recursive: true });
  for (const name of files.filter((file) => /\.c?js\.map$/.test(file))) {
    const path = join(dist, name);
    const map = JSON.parse(await readFile(path, 'utf8'));
    const sources = map.sources.map((source) => resolve(path, '..', source));
    if (sources.some((source) => isSource(source, root))) maps.set(path.slice(0, -'.map'.length), map);
  }
  return maps;
}

async function mergedProcesses(raw, wanted) {
  const names = await readdir(raw);
  let merged = { result: [] };
  let torn = 0;
  for (let at = 0; at < names.length; at += BATCH) {
    const batch = await Promise.all(
      names.slice(at, at + BATCH).map((name) => scriptsOf(join(raw, name), wanted)),
    );
    torn += batch.filter((one) => one === undefined).length;
    merged = mergeProcessCovs([merged, ...batch.filter((one) => one !== undefined)]);
  }
  return { merged, processes: names.length - torn, torn };
}

async function scriptsOf(path, wanted) {
  try {
    const { result } = JSON.parse(await readFile(path, 'utf8'));
    return {
      result: result.filter(({ url }) => url.startsWith('file:') && wanted.has(fileURLToPath(url))),
    };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
