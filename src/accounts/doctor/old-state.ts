import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type DoctorFinding, ok, warning } from './check.ts';

/** Files and folders of 0.3 in the state folder that are no longer read. */
const OLD = [
  /^(bulk|compatibility|forwards|rate|replacements|requests|sockets)$/,
  /^(reminders\.jsonl|seals\.json|update\.json)$/,
];
/** The same in the folder of the log. */
const OLD_LOG = [/^log-\d{6}\.jsonl$/, /^head\.json$/, /^lock$/];

/** Names what 0.3 has left in the state folder. It is never deleted automatically, because unfinished runs can only be finished with 0.3. */
export async function checkOldState(stateDir: string): Promise<DoctorFinding> {
  const found = [
    ...(await matching(stateDir, OLD)),
    ...(await matching(join(stateDir, 'log'), OLD_LOG)).map((name) => `log/${name}`),
  ];
  if (found.length === 0) return ok('old-state', 'nothing is left of an earlier version');
  const paths = found.map((name) => join(stateDir, name));
  return warning(
    'old-state',
    `version 0.3 left ${found.join(', ')} in ${stateDir}`,
    `Finish its unfinished runs with 0.3. Then delete its files: rm -r ${paths.map((path) => `'${path}'`).join(' ')}`,
  );
}

async function matching(folder: string, patterns: readonly RegExp[]): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => patterns.some((pattern) => pattern.test(name))).sort();
}
