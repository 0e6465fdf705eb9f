import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

// Traces the API document to tests: writes docs/conformance.md out of test/sandbox/README.md (the sandbox) and
// test/client-conformance.md (the client). With --check it writes nothing and fails when the page is out of date, a
// test that is named does not exist, or a row of the client's is none of the sandbox's. A folder may be given as root.
const check = process.argv.includes('--check');
const [given] = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const root = resolve(given ?? join(import.meta.dirname, '..'));
const page = join(root, 'docs', 'conformance.md');

const sandbox = rowsOf('test/sandbox/README.md');
const client = rowsOf('test/client-conformance.md');
const titles = new Map();
const problems = [
  ...sandbox
    .filter(isProof)
    .filter((row) => !exists(`sandbox/service/${row.file}`, row.test))
    .map(missing),
  ...client.filter((row) => !exists(row.file, row.test)).map(missing),
  ...client
    .filter((row) => !sandbox.some((one) => one.section === row.section && one.says === row.says))
    .map((row) => `no such row in test/sandbox/README.md: ${row.section}: ${row.says}`),
];
const text = render();
if (check && (!existsSync(page) || readFileSync(page, 'utf8') !== text))
  problems.push('docs/conformance.md is out of date: run `node scripts/conformance.js`');
if (!check) writeFileSync(page, text);
if (problems.length > 0) {
  process.stderr.write(`${problems.join('\n')}\n`);
  process.exitCode = 1;
}

/** The rows of a table under their sections; a file of `–` stands for no test, with the reason in its place. */
function rowsOf(path) {
  const rows = [];
  let section = '';
  for (const line of readFileSync(join(root, path), 'utf8').split('\n')) {
    section = /^\| \*\*(.+)\*\* \| \| \|$/.exec(line)?.[1] ?? section;
    const [, says, file, test] = /^\| (.+?) \| (`[\w/-]+\.test\.ts`|–) \| (.+) \|$/.exec(line) ?? [];
    if (section !== '' && says !== undefined)
      rows.push({ section, says, file: file.replaceAll('`', ''), test });
  }
  return rows;
}

function isProof({ file }) {
  return file !== '–';
}

function missing({ file, test }) {
  return `no such test in ${file}: ${test}`;
}

function exists(file, title) {
  const path = join(root, 'test', file);
  if (!titles.has(path)) titles.set(path, existsSync(path) ? titlesIn(readFileSync(path, 'utf8')) : []);
  return titles.get(path).includes(title);
}

/** The titles of all tests of a source file, those of `each` as they are written. */
function titlesIn(source) {
  return [
    ...source.matchAll(/(?:\b(?:test|it)|\](?: as const)?\))\(\s*(['"`])((?:\\.|(?!\1)[^\\\n])*)\1,/g),
  ].map(([, , title]) => title.replace(/\\(.)/g, '$1'));
}

function render() {
  const sections = [...new Set(sandbox.map(({ section }) => section))];
  const proven = sandbox.filter(isProof);
  const used = proven.filter((row) => testsOfClient(row).length > 0);
  return `${[
    '# What is promised, and the test that shows it',
    '',
    'Every sentence and row of the API document, the test of the sandbox that proves it and, where the client has a part',
    "in it, the client's. This page is made by `node scripts/conformance.js`; a test keeps it up to date.",
    '',
    `${sandbox.length} rows: ${proven.length} proven on the sandbox, ${sandbox.length - proven.length} without behaviour to prove, ${used.length} with a test of the client, too.`,
    '',
    'Beyond single rows:',
    '',
    ...beyondRows(),
    ...sections.flatMap((section) => table(section)),
  ].join('\n')}\n`;
}

function beyondRows() {
  return [
    [
      'sandbox/service/schemas.test.ts',
      'every reply and event, whole, against `contract/openapi.yaml`, for every choice',
    ],
    ['sandbox/service/lifecycle.test.ts', 'the state table, under any order of actions'],
    ['sandbox/service/fuzz.test.ts', 'requests that are wrong in every way'],
  ]
    .filter(([file]) => existsSync(join(root, 'test', file)))
    .map(([file, what]) => `- ${linked(file)}: ${what}`)
    .concat(
      '- [the contract check](contract-check.md): every exchange of the end-to-end suite, judged by Prism',
    );
}

function table(section) {
  return [
    '',
    `## ${section}`,
    '',
    '| The document says | The sandbox | The client |',
    '| --- | --- | --- |',
    ...sandbox
      .filter((row) => row.section === section)
      .map((row) => {
        const ours = isProof(row) ? [{ ...row, file: `sandbox/service/${row.file}` }].map(cell) : [row.test];
        return `| ${row.says} | ${ours.join('')} | ${testsOfClient(row).map(cell).join('<br>')} |`;
      }),
  ];
}

function testsOfClient({ section, says }) {
  return client.filter((row) => row.section === section && row.says === says);
}

function cell({ file, test }) {
  return `${linked(file)}: ${test}`;
}

function linked(file) {
  return `[${file.replace(/^sandbox\/service\//, '').replace(/\.test\.ts$/, '')}](../test/${file})`;
}
