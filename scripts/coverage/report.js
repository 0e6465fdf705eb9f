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
