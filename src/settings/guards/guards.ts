import { GuardError } from '../../kernel/errors.ts';
import type { ProfileGuards } from '../profile.ts';
import { comparablePattern, intersection } from './addresses.ts';
import type { PolicyReading } from './policy.ts';

export type GuardSource = 'profile' | 'policy' | 'profile and policy';

interface Sourced<T> {
  value: T;
  source: GuardSource;
}

/** All guards in effect. If both the profile and the policy have a guard, the stricter value applies. */
export interface Guards {
  readOnly: Sourced<true> | null;
  /** Patterns in comparable form; an empty list denies everyone. */
  onlyTo: Sourced<readonly string[]> | null;
  maxEmails: Sourced<number> | null;
  confirmName: Sourced<true> | null;
  /** The policy of the machine, and the reason why it can't be used, if any. */
  policy: { path: string; problem: string | null } | null;
}

export function combineGuards(profile: ProfileGuards | undefined, reading: PolicyReading): Guards {
  const policy = reading.state === 'set' ? reading.policy : undefined;
  return {
    readOnly: eitherSetting(profile?.readOnly, policy?.readOnly),
    onlyTo: bothLists(profile?.onlyTo, policy?.onlyTo),
    maxEmails: smallerLimit(profile?.maxEmails, policy?.maxEmails),
    confirmName: eitherSetting(profile?.confirmName, policy?.confirmName),
    policy:
      reading.state === 'none'
        ? null
        : { path: reading.path, problem: reading.state === 'unusable' ? reading.problem : null },
  };
}

function sourceOf(ofProfile: boolean, ofPolicy: boolean): GuardSource {
  if (ofProfile && ofPolicy) return 'profile and policy';
  return ofProfile ? 'profile' : 'policy';
}

function eitherSetting(profile: boolean | undefined, policy: boolean | undefined): Sourced<true> | null {
  if (profile !== true && policy !== true) return null;
  return { value: true, source: sourceOf(profile === true, policy === true) };
}

function smallerLimit(profile: number | undefined, policy: number | undefined): Sourced<number> | null {
  if (profile === undefined && policy === undefined) return null;
  const value = Math.min(profile ?? Number.POSITIVE_INFINITY, policy ?? Number.POSITIVE_INFINITY);
  return { value, source: sourceOf(profile === value, policy === value) };
}

function bothLists(
  profile: readonly string[] | undefined,
  policy: readonly string[] | undefined,
): Sourced<readonly string[]> | null {
  const source = sourceOf(profile !== undefined, policy !== undefined);
  const [one, other] = [profile, policy].map((list) =>
    list?.flatMap((text) => comparablePattern(text) ?? []),
  );
  if (one !== undefined && other !== undefined) return { value: intersection(one, other), source };
  const value = one ?? other;
  return value === undefined ? null : { value, source };
}

/** @throws GuardError if all writes are refused: the policy can't be relied on, or only reading is allowed. */
export function requireWritable(guards: Guards): void {
  const { policy, readOnly } = guards;
  if (policy !== null && policy.problem !== null)
    throw new GuardError(
      'POLICY_UNUSABLE',
      `The policy on this machine, ${policy.path}, can't be used: ${policy.problem}.`,
      {
        hint: 'Ask your administrator to fix it; `esign doctor` shows what is wrong. Until then, only commands that read data work.',
      },
    );
  if (readOnly === null) return;
  const where = sourceInWords(readOnly.source, guards);
  throw new GuardError('READ_ONLY', `This command writes data, but ${where} allows only reading.`, {
    hint: hintFor(guards),
  });
}

export function hintFor({ policy }: Guards): string {
  const mine =
    'To see the guards, run `esign profiles show`. To change them, see `esign profiles edit --help`.';
  return policy === null ? mine : `${mine} Only an administrator can change the policy.`;
}

/** Returns the source as text for messages, such as `the profile`. */
export function sourceInWords(source: GuardSource, { policy }: Guards): string {
  if (source === 'profile') return 'the profile';
  const path = policy === null ? 'the policy' : `the policy ${policy.path}`;
  return source === 'policy' ? path : `the profile and ${path}`;
}

/** Returns the guards in effect as labels and values, for people. */
export function guardsInWords({ readOnly, onlyTo, maxEmails, confirmName }: Guards) {
  const facts: [string, { text: string; source: GuardSource } | null][] = [
    ['Read-only', readOnly && { text: 'yes', source: readOnly.source }],
    ['Only to', onlyTo && { text: onlyTo.value.join(', ') || 'nobody', source: onlyTo.source }],
    ['Max emails', maxEmails && { text: `${maxEmails.value} per command`, source: maxEmails.source }],
    ['Confirm name', confirmName && { text: 'yes', source: confirmName.source }],
  ];
  return facts.flatMap(([label, fact]): [string, { text: string; source: GuardSource }][] =>
    fact === null ? [] : [[label, fact]],
  );
}

export function policyInWords({ path, problem }: NonNullable<Guards['policy']>): string {
  return problem === null ? path : `${path} can't be used: ${problem}; nothing can be written`;
}
