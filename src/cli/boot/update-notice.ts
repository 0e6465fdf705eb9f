import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { configDir, stateDir } from '../../kernel/files/paths.ts';
import { isRecord, parseJson } from '../../kernel/json.ts';
import { childEnvironment } from '../../kernel/process/child-environment.ts';
import { isExecutable } from '../../kernel/process/is-executable.ts';
import { isDayAgo, isNewer, readRecord, recordPath, writeRecord } from '../../update/record.ts';

/**
 * Returns a line about a newer version, if there is one. Called after a command on a terminal. Once a day, it starts a
 * background process that asks the registry, so that the next run has the result.
 */
export async function updateNotice(version: string, now: number): Promise<string | undefined> {
  if (isOffBySetting() || (await isOffByPolicy())) return undefined;
  const path = recordPath(stateDir());
  const record = readRecord(path);
  const { latest } = record;
  const isDue = latest !== undefined && isNewer(latest, version) && isDayAgo(record.toldAt, now);
  const ask = isDayAgo(record.askedAt, now);
  if (!isDue && !ask) return undefined;
  // Recorded first, so that a failing check is not repeated in every run.
  writeRecord(path, { latest, askedAt: ask ? now : record.askedAt, toldAt: isDue ? now : record.toldAt });
  if (ask) askInBackground();
  return isDue ? noticeOf(latest, version) : undefined;
}

function noticeOf(latest: string, version: string): string {
  const how = isExecutable()
    ? 'Download it from the same place as this version.'
    : 'Upgrade with `npm install --global esign-cli`.';
  return `esign ${latest} is available; you have ${version}. ${how} (To hide this notice, set ESIGN_NO_UPDATE_NOTICE=1.)`;
}

function askInBackground(): void {
  const program = isExecutable() ? ['__update'] : [process.argv[1] ?? '', '__update'];
  const child = spawn(process.execPath, program, {
    cwd: homedir(),
    env: childEnvironment(),
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
  });
  child.on('error', () => undefined);
  child.unref();
}

/** Returns true if the machine's policy disables the check. If the policy can't be read, nothing is sent. */
async function isOffByPolicy(): Promise<boolean> {
  const { readPolicy } = await import('../../guards/policy.ts');
  const reading = await readPolicy();
  if (reading.state === 'set') return reading.policy.updateNotice === false;
  return reading.state === 'unusable';
}

/** Returns true if settings.json in the config folder contains `{"updateNotice": false}`. */
function isOffBySetting(): boolean {
  try {
    const settings = parseJson(readFileSync(join(configDir(), 'settings.json'), 'utf8'));
    return isRecord(settings) && settings.updateNotice === false;
  } catch {
    return false;
  }
}
