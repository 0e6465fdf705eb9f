import { listed } from '../kernel/duration.ts';
import { type EsignError, UsageError } from '../kernel/errors.ts';
import { comparableSigner } from '../kernel/text/email-address.ts';
import { suggestDomain } from '../kernel/text/mistyped-provider.ts';
import { nearest } from '../kernel/text/nearest.ts';
import { addressOf } from '../kernel/text/person.ts';

/** The fields of a signer that decide who signs in which role. */
export interface SignerWithRole {
  email?: string | null | undefined;
  role?: string | null | undefined;
}

/** The roles of a template. Inferred ones come from earlier envelopes, so they may be incomplete. */
export interface KnownRoles {
  names: readonly string[];
  inferred: boolean;
}

/** A probable mistake to report before an envelope is created or sent. */
export interface EnvelopeProblem {
  /** `wrong`: the service would refuse it. `incomplete`: a role without a signer. `warning`: may be intended. */
  weight: 'wrong' | 'incomplete' | 'warning';
  text: string;
}

/** What the user should confirm before a write. */
export interface Concern {
  text: string;
  /** The error where no terminal can ask. Without one, the text is only shown there. */
  error?: EsignError;
  /** Whether --yes confirms it. */
  coveredByYes?: true;
}

/**
 * Splits problems into notices and what has to be confirmed. `allowMissing`: --allow-missing-roles confirms roles without a signer.
 * @throws UsageError for what the service would refuse.
 */
export function sortProblems(
  problems: readonly EnvelopeProblem[],
  allowMissing: boolean,
): { notes: string[]; concerns: Concern[] } {
  const textsOf = (weight: EnvelopeProblem['weight']) =>
    problems.filter((one) => one.weight === weight).map(({ text }) => text);
  const wrong = textsOf('wrong').join(' ');
  if (wrong !== '') throw new UsageError(wrong, { hint: 'Nothing was sent.' });
  const [warning, missing] = [textsOf('warning'), textsOf('incomplete')];
  if (allowMissing || missing.length === 0) return { notes: [...warning, ...missing], concerns: [] };
  const text = missing.join(' ');
  const hint =
    "Nothing was sent. Add a signer for each role, such as 'Ada <ada@example.com>;role=ROLE', or pass --allow-missing-roles.";
  return { notes: warning, concerns: [{ text, error: new UsageError(text, { hint }) }] };
}

export const NO_ROLES: KnownRoles = { names: [], inferred: false };

/** Returns the problems to report before an envelope of the template is created or sent to these signers. */
export function findProblems(parties: readonly SignerWithRole[], roles: KnownRoles): EnvelopeProblem[] {
  return [
    ...(roles.inferred ? [] : unknownRoles(parties, roles.names)),
    ...rolesWithoutSigner(rolesOf(parties), parties.filter(({ role }) => !role).length, roles.names).map(
      (role): EnvelopeProblem =>
        roles.inferred
          ? {
              weight: 'warning',
              text: `No signer has the role ${role}, but earlier envelopes from this template had a signer with this role.`,
            }
          : { weight: 'incomplete', text: `No signer has the role ${role}.` },
    ),
    ...repeatedRoles(parties),
    ...repeatedAddresses(parties),
    ...likelyTypos(parties),
  ];
}

export function rolesOf(parties: readonly SignerWithRole[]): string[] {
  return parties.flatMap(({ role }) => (role ? [role] : []));
}

/** Returns the roles without a signer. Signers without a role (`free`) take unnamed roles in order. */
export function rolesWithoutSigner(
  named: readonly string[],
  free: number,
  names: readonly string[],
): string[] {
  return names.filter((role) => !named.includes(role)).slice(free);
}

function unknownRoles(parties: readonly SignerWithRole[], names: readonly string[]): EnvelopeProblem[] {
  if (names.length === 0) return [];
  return parties.flatMap((party): EnvelopeProblem[] => {
    const { role } = party;
    if (!role || names.includes(role)) return [];
    return [
      {
        weight: 'wrong',
        text: `The template has no role "${role}" for ${addressOf(party)}; ${suggestRole(role, names)}`.replace(
          /[^?]$/,
          '$&.',
        ),
      },
    ];
  });
}

/** Suggests the role that was most likely intended; otherwise lists all roles. */
export function suggestRole(role: string, names: readonly string[]): string {
  const near = nearest(role, names);
  return near === undefined ? `it has ${names.join(', ')}` : `did you mean ${near}?`;
}

function repeatedRoles(parties: readonly SignerWithRole[]): EnvelopeProblem[] {
  return [...groupSigners(parties, ({ role }) => role ?? '')].map(([role, several]) => {
    const who = several.map(addressOf);
    const all = who.length === 2 ? 'both' : 'all';
    return { weight: 'warning', text: `${listed(who)} ${all} sign as ${role}.` };
  });
}

function repeatedAddresses(parties: readonly SignerWithRole[]): EnvelopeProblem[] {
  return [...groupSigners(parties, ({ email }) => comparableSigner(email ?? ''))].map(([, several]) => ({
    weight: 'warning',
    text: `${several[0]?.email ?? ''} is listed ${several.length === 2 ? 'twice' : `${several.length} times`}.`,
  }));
}

/** Finds addresses whose domain looks like a typo of a well-known one. */
function likelyTypos(parties: readonly SignerWithRole[]): EnvelopeProblem[] {
  return parties.flatMap(({ email }): EnvelopeProblem[] => {
    const domain = suggestDomain(email ?? '');
    return domain === undefined
      ? []
      : [{ weight: 'warning', text: `${email ?? ''}: did you mean ${domain}?` }];
  });
}

function groupSigners(
  parties: readonly SignerWithRole[],
  keyOf: (party: SignerWithRole) => string,
): Map<string, SignerWithRole[]> {
  const all = new Map<string, SignerWithRole[]>();
  for (const party of parties) all.set(keyOf(party), [...(all.get(keyOf(party)) ?? []), party]);
  return new Map([...all].filter(([key, several]) => key !== '' && several.length > 1));
}
