import { readdir, readFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
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
  const isSource = (file) => relative(root, file).startsWith(`src${sep}`);
  // The files of the bundle that contain our code. The others contain only packages.
  const maps = new Map();
  for (const name of (await readdir(dist, { recursive: true })).filter((file) => /\.c?js\.map$/.test(file))) {
    const path = join(dist, name.slice(0, -'.map'.length));
    const sourceMap = JSON.parse(await readFile(`${path}.map`, 'utf8'));
    if (sourceMap.sources.some((source) => isSource(resolve(path, '..', source))))
      maps.set(pathToFileURL(path).href, { path, sourceMap });
  }
  const map = libCoverage.createCoverageMap({});
  const { merged, processes, torn } = await mergedProcesses(raw, maps);
  for (const coverage of merged.result) {
    const { path, sourceMap } = maps.get(coverage.url);
    const code = await readFile(path, 'utf8');
    const ast = await parseAstAsync(code);
    map.merge(await convert({ ast, code, coverage, sourceMap, wrapperLength: 0 }));
  }
  map.filter(isSource);
  return { map, processes, torn };
}

async function mergedProcesses(raw, wanted) {
  const names = await readdir(raw);
  let merged = { result: [] };
  let processes = 0;
  for (let at = 0; at < names.length; at += BATCH) {
    const read = names.slice(at, at + BATCH).map((name) => scriptsOf(join(raw, name), wanted));
    const whole = (await Promise.all(read)).filter((one) => one !== undefined);
    processes += whole.length;
    merged = mergeProcessCovs([merged, ...whole]);
  }
  return { merged, processes, torn: names.length - processes };
}

async function scriptsOf(path, wanted) {
  try {
    const { result } = JSON.parse(await readFile(path, 'utf8'));
    return { result: result.filter(({ url }) => wanted.has(url)) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Adds the lines and functions that spawned processes reached to the coverage of the tests' own process. Only the latter lists all
 * lines of a file: the bundle that the processes run lacks unused code.
 * @param {import('istanbul-lib-coverage').CoverageMap} inProcess
 * @param {import('istanbul-lib-coverage').CoverageMap} spawned
 */
export function addSpawned(inProcess, spawned) {
  const known = new Set(inProcess.files());
  for (const name of spawned.files()) {
    const there = spawned.fileCoverageFor(name);
    if (!known.has(name)) {
      inProcess.addFileCoverage(there);
      continue;
    }
    const { statementMap, s, fnMap, f } = inProcess.fileCoverageFor(name).data;
    const lines = there.getLineCoverage();
    for (const [key, { start }] of Object.entries(statementMap)) s[key] += lines[start.line] ?? 0;
    const calls = new Map(Object.entries(there.fnMap).map(([key, { loc }]) => [placeOf(loc), there.f[key]]));
    for (const [key, { loc }] of Object.entries(fnMap)) f[key] += calls.get(placeOf(loc)) ?? 0;
  }
}

function placeOf({ start }) {
  return `${start.line}:${start.column}`;
}
