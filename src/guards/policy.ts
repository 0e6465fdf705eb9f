import { execFile } from 'node:child_process';
import { lstat } from 'node:fs/promises';
import { dirname, join, win32 } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { codeOf } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { readRegular } from '../kernel/files/regular-file.ts';
import { tryParseJson } from '../kernel/json.ts';
import { childEnvironment } from '../kernel/process/child-environment.ts';
import { repeatsName } from '../kernel/text/json-text.ts';
import { wordList } from '../kernel/text/word-list.ts';
import { comparablePattern } from './addresses.ts';

const flag = z.optional(z.boolean());

const policySchema = z.strictObject({
  readOnly: flag,
  onlyTo: z.optional(z.array(z.string())),
  maxEmails: z.optional(z.int().check(z.nonnegative())),
  confirmName: flag,
  updateNotice: flag,
  mcpWrites: flag,
});
/** The rules that the administrator of a machine has set for everyone on it. */
export type Policy = z.infer<typeof policySchema>;

/** The policy of a machine. `unusable`: a policy exists but can't be relied on, so no write is allowed. */
export type PolicyReading =
  | { state: 'none' }
  | { state: 'set'; path: string; policy: Policy }
  | { state: 'unusable'; path: string; problem: string };

/** Where a policy is looked for. The user's environment variables have no influence on it. */
export interface Machine {
  /** The root of the file system. */
  root: string;
  platform: NodeJS.Platform;
  /** The user who must own the policy. */
  owner: number;
}
const MACHINE: Machine = { root: '/', platform: process.platform, owner: 0 };

export async function readPolicy(machine: Machine = MACHINE): Promise<PolicyReading> {
  const path = policyPath(machine);
  try {
    const problem = (await problemOf(dirname(path), machine)) ?? (await problemOf(path, machine));
    if (problem !== undefined) return { state: 'unusable', path, problem };
    const text = await readRegular(path);
    return text === undefined ? { state: 'none' } : parsePolicy(text, path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { state: 'none' };
    return { state: 'unusable', path, problem: `it can't be read: ${diskReason(error)}` };
  }
}

/**
 * Returns the path of the policy. On Windows, the folder is not taken from %ProgramData%, because the user can set that variable.
 */
function policyPath({ root, platform }: Machine): string {
  if (platform === 'win32') return win32.join('C:\\ProgramData', 'esign', 'policy.json');
  return join(root, 'etc', 'esign', 'policy.json');
}

/**
 * Returns why others could change the file or folder, or undefined if they can't. @throws a system error when its properties
 * can't be read.
 */
async function problemOf(path: string, { platform, owner }: Machine): Promise<string | undefined> {
  const stat = await lstat(path);
  if (stat.isSymbolicLink()) return `${path} is a symbolic link`;
  if (platform === 'win32') {
    const problem = await windowsProblem(path);
    return problem === undefined ? undefined : `${path} ${problem}`;
  }
  if (stat.uid !== owner) return `${path} is not owned by root`;
  if ((stat.mode & 0o022) !== 0) return `${path} can be changed by other users`;
  return undefined;
}

function parsePolicy(text: string, path: string): PolicyReading {
  const unusable = (problem: string): PolicyReading => ({ state: 'unusable', path, problem });
  const json = tryParseJson(text);
  if (json === undefined) return unusable('it is not JSON');
  if (repeatsName(text, json)) return unusable('a key occurs twice');
  const { data, error } = policySchema.safeParse(json);
  if (data === undefined) {
    const issue = error.issues[0];
    const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
    if (unknown !== undefined) return unusable(`the key "${unknown}" is unknown`);
    return unusable(`"${issue?.path.join('.') || 'its content'}" has an invalid value`);
  }
  const invalid = data.onlyTo?.find((pattern) => comparablePattern(pattern) === undefined);
  if (invalid !== undefined) return unusable(`"${invalid}" in onlyTo is not an email address or a pattern`);
  return { state: 'set', path, policy: data };
}

/** The full path, because an environment variable could point to another program. */
const POWERSHELL = String.raw`C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`;
const SCRIPT = '(Get-Acl -LiteralPath $env:ESIGN_ACL_PATH).Sddl';
const TRUSTED_INSTALLER = 'S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464';
/** Administrators, the system, the Windows installer, and the owner, who must be one of them. */
const TRUSTED: ReadonlySet<string> = new Set([
  ...wordList('BA SY OW S-1-5-32-544 S-1-5-18 S-1-3-4'),
  TRUSTED_INSTALLER,
]);
/** Rights to write, append, delete, or change attributes, permissions, or the owner. By name, and as bits below. */
const WRITING: ReadonlySet<string> = new Set(wordList('GA GW FA FW KA KW WD WO SD DC LC RP DT CR'));
const WRITING_BITS = 0x500d0156;

/**
 * Returns why others can change a file or folder, as words that follow its path in a sentence; undefined if only administrators
 * can.
 */
async function windowsProblem(path: string): Promise<string | undefined> {
  const words = ['-NoProfile', '-NonInteractive', '-Command', SCRIPT];
  const options = { env: childEnvironment({ ESIGN_ACL_PATH: path }), windowsHide: true };
  const { stdout } = await promisify(execFile)(POWERSHELL, words, options);
  return sddlProblem(stdout.trim());
}

/** Returns the problem with a security descriptor in text form (SDDL), or undefined. */
export function sddlProblem(sddl: string): string | undefined {
  const owner = /^O:(?<owner>S-[\d-]+|[A-Z]{2})/.exec(sddl)?.groups?.owner;
  if (owner === undefined || !TRUSTED.has(owner)) return 'is not owned by Administrators';
  const list = /D:(?<flags>[A-Z_]*)(?<entries>(?:\([^)]*\))*)/.exec(sddl)?.groups;
  // Without a list, everyone has all rights.
  if (list === undefined || list.flags?.includes('NO_ACCESS_CONTROL')) return 'can be changed by other users';
  const entries = [...(list.entries ?? '').matchAll(/\(([^)]*)\)/g)].map(([, one = '']) => one.split(';'));
  return entries.some(isWritableByOthers) ? 'can be changed by other users' : undefined;
}

function isWritableByOthers([type = '', flags = '', rights = '', , , who = '']: string[]): boolean {
  const isAllowed = /^(?:A|XA|OA)$/.test(type);
  // IO: applies only to files that are created in the folder later.
  if (!isAllowed || flags.includes('IO') || TRUSTED.has(who)) return false;
  if (rights.startsWith('0x')) return (Number(rights) & WRITING_BITS) !== 0;
  return (rights.match(/../g) ?? []).some((right) => WRITING.has(right));
}
