import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { codeOf } from '../../kernel/errors.ts';
import { diskReason } from '../../kernel/files/disk-reason.ts';
import { readRegular } from '../../kernel/files/regular-file.ts';
import { tryParseJson } from '../../kernel/json.ts';
import { comparablePattern } from './addresses.ts';

const flag = z.optional(z.boolean());

const policySchema = z.strictObject({
  readOnly: flag,
  onlyTo: z.optional(z.array(z.string())),
  maxEmails: z.optional(z.int().check(z.nonnegative())),
  confirmName: flag,
});
/** The rules that the administrator of a machine has set for everyone on it. */
export type Policy = z.infer<typeof policySchema>;

/** The policy of a machine. `unusable`: a policy exists but can't be relied on, so no write is allowed. */
export type PolicyReading =
  | { state: 'none' }
  | { state: 'set'; path: string; policy: Policy }
  | { state: 'unusable'; path: string; problem: string };

/** Where a policy is looked for. The user's environment variables have no influence on it. */
export interface PolicyLocation {
  /** The root of the file system. */
  root: string;
  /** The user who must own the policy. */
  owner: number;
}
const MACHINE: PolicyLocation = { root: '/', owner: 0 };

/** Reads the policy. Windows has none. */
export async function readPolicy(machine: PolicyLocation = MACHINE): Promise<PolicyReading> {
  const path = join(machine.root, 'etc', 'esign', 'policy.json');
  try {
    const problem = (await problemOf(dirname(path), machine.owner)) ?? (await problemOf(path, machine.owner));
    if (problem !== undefined) return { state: 'unusable', path, problem };
    const text = await readRegular(path);
    return text === undefined ? { state: 'none' } : parsePolicy(text, path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { state: 'none' };
    return { state: 'unusable', path, problem: `it can't be read: ${diskReason(error)}` };
  }
}

/**
 * Returns why others could change the file or folder, or undefined if they can't. @throws a system error when its properties
 * can't be read.
 */
async function problemOf(path: string, owner: number): Promise<string | undefined> {
  const stat = await lstat(path);
  if (stat.isSymbolicLink()) return `${path} is a symbolic link`;
  if (stat.uid !== owner) return `${path} is not owned by root`;
  if ((stat.mode & 0o022) !== 0) return `${path} can be changed by other users`;
  return undefined;
}

function parsePolicy(text: string, path: string): PolicyReading {
  const unusable = (problem: string): PolicyReading => ({ state: 'unusable', path, problem });
  const json = tryParseJson(text);
  if (json === undefined) return unusable('it is not JSON');
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
