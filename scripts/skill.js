import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns the output of `help --json`. */
function describe(...words) {
  const env = { ...process.env };
  const args = [join(import.meta.dirname, '../bin/run.js'), 'help', '--json', ...words];
  return JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8' }));
}

/** Returns skills/esign/SKILL.md from skill.md and the commands in the manifest. */
export async function skill(commands) {
  const effects = Object.entries(describe().commands);
  const mails = effects.filter(([, effect]) => effect === 'mails').map(([name]) => `\`${name}\``);
  // Together, these two have all exit codes.
  const codes = [
    ['envelopes', 'watch'],
    ['documents', 'download'],
  ].map((words) => describe(...words).exitCodes);
  const rows = Object.entries(Object.assign({}, ...codes)).map(
    ([code, meaning]) => `| ${code} | ${meaning} |`,
  );
  const lines = effects.map(
    ([name, effect]) => `- \`esign ${name}\` (${effect}): ${commands[name.replaceAll(' ', ':')].summary}`,
  );
  const parts = {
    mails: mails.join(', '),
    exitCodes: ['| code | meaning |', '| --- | --- |', ...rows].join('\n'),
    commands: lines.join('\n'),
  };
  const template = await readFile(join(import.meta.dirname, 'skill.md'), 'utf8');
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, part) => parts[part]);
}
