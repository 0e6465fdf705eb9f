import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// Fails if a tracked file contains wording that docs/contributing/style.md rules out, and prints every match.
const SLIPS = [
  [
    /\b(?:is|are|was|were|be|been|gets?) told\b|\btells? (?:of|what|how|why|which|where|when|so)\b/gi,
    'shows, reports',
  ],
  [/\b(?:mend|mends|mended|mending|anew|lest|amid)\b|\bin vain\b|\bput right\b/gi, 'fix, again, during'],
  [
    /\b(?:is|are|was|were) none\b|(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|such\b|less\b|one\b)[a-z]/gi,
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
  [/\bat once\b/gi, 'immediately; at the same time'],
  [/\bof (?:its|their|our|one's) own\b|\bby hand\b/gi, 'its own, separate; manually'],
  [/\bof this machine\b/gi, 'on this machine, local'],
  [/\bbeside\b/gi, 'next to; in addition to'],
  [/\b(?:mailed|mailing)\b(?! list)/gi, 'emailed'],
  [/\bended otherwise\b|\bENDED_OTHERWISE\b/g, 'ended in another status'],
  [/\b(?:floors?|rooms?|doors?) of the (?:house|package)\b/gi, 'layer, module, entry point'],
];
const isText = (path) => /\.(?:ts|js|mjs|cjs|md|html|css|ya?ml)$/.test(path);
const isExempt = (path) =>
  /(?:^|\/)(?:fixtures|node_modules)\/|^(?:CHANGELOG\.md|docs\/contributing\/style\.md|scripts\/words\.js|docs\/contributing\/decisions\/)/.test(
    path,
  );

const root = join(import.meta.dirname, '..');
const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0');
for (const path of tracked) {
  if (!isText(path) || isExempt(path) || !existsSync(join(root, path))) continue;
  const lines = readFileSync(join(root, path), 'utf8').split('\n');
  for (const [index, line] of lines.entries())
    for (const [pattern, better] of SLIPS)
      for (const [found] of line.matchAll(pattern)) {
        console.error(`${path}:${index + 1}: "${found.trim()}": ${better}`);
        process.exitCode = 1;
      }
}
