import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

// Writes skills/esign/SKILL.md from skill.md and the descriptions of the commands. With --check, only checks that it is up to date.
const root = join(import.meta.dirname, '..');
const file = join(root, 'skills/esign/SKILL.md');
const { commands: summaries } = JSON.parse(await readFile(join(root, 'oclif.manifest.json'), 'utf8'));
const { commands: effects } = describe();

/** Returns the output of `help --json`. */
function describe(...words) {
  const env = { ...process.env, ESIGN_NO_UPDATE_NOTICE: '1' };
  const args = [join(root, 'bin/run.js'), 'help', '--json', ...words];
  return JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8' }));
}

const named = (effect) => Object.keys(effects).filter((name) => effects[name] === effect);
const inCode = (names) => names.map((name) => `\`${name}\``).join(', ');

/** Returns a table of all exit codes, collected from the commands. */
function exitTable() {
  const codes = {};
  for (const name of ['envelopes watch', 'documents download'])
    Object.assign(codes, describe(...name.split(' ')).exitCodes);
  const rows = Object.entries(codes).map(([code, meaning]) => `| ${code} | ${meaning} |`);
  return ['| code | meaning |', '| --- | --- |', ...rows].join('\n');
}

function commandList() {
  const line = (name) =>
    `- \`esign ${name}\` (${effects[name]}): ${summaries[name.replaceAll(' ', ':')].summary}`;
  return Object.keys(effects).map(line).join('\n');
}

const parts = { mails: inCode(named('mails')), exitCodes: exitTable(), commands: commandList() };
const template = await readFile(join(import.meta.dirname, 'skill.md'), 'utf8');
const text = template.replaceAll(/\{\{(\w+)\}\}/g, (_, part) => parts[part]);

if (process.argv.includes('--check')) {
  const now = await readFile(file, 'utf8').catch(() => undefined);
  if (now !== text) process.stderr.write('skills/esign/SKILL.md is not up to date: npm run docs:reference\n');
  process.exitCode = now === text ? 0 : 1;
} else {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
