import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { childEnvironment } from '../kernel/process/child-environment.ts';
import { wordList } from '../kernel/text/word-list.ts';

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
export async function windowsProblem(path: string): Promise<string | undefined> {
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
