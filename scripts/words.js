import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Finds wording that docs/style.md rules out. Older files still contain some. scripts/words.json has their number for each folder, which
// may only go down. `--list [FOLDER]` prints every match. `--update` lowers the numbers, and fails if their sum would grow.
const SLIPS = [
  [
    /\b(?:is|are|was|were|be|been|gets?) told\b|\btells? (?:of|what|how|why|which|where|when|so)\b/gi,
    'shows, reports',
  ],
  [/\b(?:mend|mends|mended|mending|anew|lest|amid)\b|\bin vain\b|\bput right\b/gi, 'fix, again, during'],
  [
    /\b(?:is|are|was|were) none\b|\b(?:is|are) no (?:pdf|file|number|valid|list|key|terminal|mistake)\b/gi,
    'is not a …',
  ],
  [
    /\bstands? (?:there|here|in|at|on|beside|behind|above|below|as)\b|\bwhere (?:it|everything|an envelope) stands\b/gi,
    'is',
  ],
  [/\bso (?:many|long) (?!as\b|that\b|ago\b)|\bthe like\b/gi, 'a number, a duration, similar'],
  [/\b(?:go|goes|going|went|gone) on (?:with|although|where|from|as)\b|\bgone on\b/gi, 'continue, resume'],
  [
    /\bfor ever\b|\bexclude each other\b|\blook(?:s|ed|ing)? again at\b/gi,
    "indefinitely; can't be used together; recheck",
  ],
  [
    /\bwhat (?:became|comes|came) (?:of|to|out)\b|\bknown here\b|\b(?:hold|holds|held) what\b/gi,
    'the result; local; contains',
  ],
  [/\b(?:nobody|whoever) (?:knows|points|asks|needs|can be asked|is to)\b/gi, 'name the thing'],
  [/\bpapers?\b/gi, 'document, PDF'],
  [/\b(?:mailed|mailing)\b(?! list)/gi, 'emailed'],
  [/\bended otherwise\b|\bENDED_OTHERWISE\b/g, 'ended in another status'],
  [
    /\b(?:floors?|rooms?|doors?) of the (?:house|package)\b|\ba house of its own\b/gi,
    'layer, module, entry point',
  ],
];
// Exceptions: names in JSON, files, and code that can't change, and quotations of the old wording.
const ALLOWED = /papers\.json|\.papers\[|"papers"|PAPERS|tamperedPaper/g;
const isText = (path) => /\.(?:ts|js|mjs|cjs|md|html|css|ya?ml)$/.test(path);
const isExempt = (path) =>
  /(?:^|\/)(?:fixtures|node_modules)\/|^(?:CHANGELOG\.md|docs\/style\.md|scripts\/words\.js|docs\/decisions\/)/.test(
    path,
  );

const root = join(import.meta.dirname, '..');
const numbers = join(root, 'scripts/words.json');
const folderOf = (path) =>
  path
    .split('/')
    .slice(0, path.startsWith('src/') ? 2 : 1)
    .join('/');

function findsIn(path) {
  const lines = readFileSync(join(root, path), 'utf8').split('\n');
  return lines.flatMap((line, index) =>
    SLIPS.flatMap(([pattern, better]) =>
      [...line.replaceAll(ALLOWED, '').matchAll(pattern)].map(
        ([found]) => `${path}:${index + 1}: "${found.trim()}": ${better}`,
      ),
    ),
  );
}

const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0');
const files = tracked.filter((path) => isText(path) && !isExempt(path) && existsSync(join(root, path)));
const finds = {};
for (const path of files) finds[folderOf(path)] = [...(finds[folderOf(path)] ?? []), ...findsIn(path)];
const counts = Object.fromEntries(
  Object.entries(finds)
    .filter(([, found]) => found.length > 0)
    .map(([folder, found]) => [folder, found.length])
    .sort(),
);
const limits = JSON.parse(readFileSync(numbers, 'utf8'));
const sum = (record) => Object.values(record).reduce((total, count) => total + count, 0);

const [option, folder] = process.argv.slice(2);
if (option === '--list') {
  const chosen = Object.entries(finds).filter(([name]) => folder === undefined || name === folder);
  for (const [, found] of chosen) for (const find of found) console.log(find);
} else if (option === '--update') {
  if (sum(counts) > sum(limits))
    throw new Error(`Found ${sum(counts)} phrases, but at most ${sum(limits)} are allowed.`);
  writeFileSync(numbers, `${JSON.stringify(counts, null, 2)}\n`);
} else {
  for (const [name, count] of Object.entries(counts)) {
    const limit = limits[name] ?? 0;
    if (count <= limit) continue;
    console.error(
      `${name}: ${count} phrases that docs/style.md rules out, but at most ${limit} are allowed:`,
    );
    console.error(finds[name].slice(-20).join('\n'));
    process.exitCode = 1;
  }
}
