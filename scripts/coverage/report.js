import { relative, sep } from 'node:path';

/** Below this share of its lines a file is named. */
const LEAST = 70;

/**
 * What was reached of each source file. Its lines and functions are those that Vitest sees, which transforms each file by
 * itself; the bundle, from which unused code is gone, can only say that one of them ran.
 * @param {import('istanbul-lib-coverage').CoverageMap} inProcess
 * @param {import('istanbul-lib-coverage').CoverageMap} spawned
 * @param {string} root
 */
export function reachedFiles(inProcess, spawned, root) {
  const names = new Set([...inProcess.files(), ...spawned.files()]);
  return [...names].sort().map((name) => {
    const [here, there] = [inProcess, spawned].map((map) =>
      map.files().includes(name) ? map.fileCoverageFor(name) : undefined,
    );
    const none = zeros(linesOf(here ?? there));
    const lines = together(none, linesOf(here), linesOf(there));
    const functions = together(zeros(functionsOf(here ?? there)), functionsOf(here), functionsOf(there));
    return {
      file: relative(root, name).split(sep).join('/'),
      lines: counted(lines),
      inProcess: counted(together(none, linesOf(here))),
      spawned: counted(together(none, linesOf(there))),
      functions: counted(functions),
      missed: ranges([...lines].filter(([, hits]) => hits === 0).map(([line]) => line)),
    };
  });
}

function zeros(hits) {
  return new Map([...hits.keys()].map((key) => [key, 0]));
}

/** The keys of the first, with the hits of all. */
function together(first, ...others) {
  return new Map(
    [...first].map(([key, hits]) => [key, others.reduce((sum, one) => sum + (one.get(key) ?? 0), hits)]),
  );
}

function linesOf(coverage) {
  const hits = Object.entries(coverage?.getLineCoverage() ?? {});
  return new Map(hits.map(([line, count]) => [Number(line), count]));
}

function functionsOf({ fnMap, f } = { fnMap: {}, f: {} }) {
  return new Map(
    Object.entries(fnMap).map(([key, { loc }]) => [`${loc.start.line}:${loc.start.column}`, f[key]]),
  );
}

function counted(hits) {
  return { total: hits.size, covered: [...hits.values()].filter((count) => count > 0).length };
}

/** Line numbers, those that follow each other as `3-7`. */
function ranges(lines) {
  const found = [];
  for (const line of lines.sort((one, other) => one - other)) {
    const last = found.at(-1);
    if (last !== undefined && line <= last[1] + 1) last[1] = line;
    else found.push([line, line]);
  }
  return found.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
}

/** The table, a row for each folder of src, and the files that are reached least. */
export function reportText(files) {
  const rows = [...byFolder(files)].map(([folder, members]) => [folder, ...cells(members)]);
  const poor = files.filter(({ lines }) => share(lines) < LEAST);
  poor.sort((one, other) => share(one.lines) - share(other.lines));
  return [
    ...aligned([['', 'files', 'lines', '%', 'functions', '%'], ...rows, ['whole', ...cells(files)]]),
    '',
    poor.length === 0
      ? `No file is under ${LEAST} % of its lines.`
      : `Files under ${LEAST} % of their lines:`,
    ...aligned(poor.map((file) => [file.file, ...cells([file]).slice(1, 3)])),
  ].join('\n');
}

/** The sum of several counts. */
export function total(counts) {
  return counts.reduce((sum, one) => ({ total: sum.total + one.total, covered: sum.covered + one.covered }), {
    total: 0,
    covered: 0,
  });
}

/** In percent. */
export function share({ total: all, covered }) {
  return all === 0 ? 100 : (100 * covered) / all;
}

function byFolder(files) {
  const folders = new Map();
  for (const file of files) {
    const folder = file.file.split('/').slice(0, 2).join('/');
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  return folders;
}

function cells(files) {
  const kinds = [total(files.map((file) => file.lines)), total(files.map((file) => file.functions))];
  const figures = kinds.flatMap((kind) => [`${kind.covered}/${kind.total}`, share(kind).toFixed(1)]);
  return [String(files.length), ...figures];
}

/** The first column to the left, the others to the right. */
function aligned(rows) {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
      .join('  '),
  );
}
