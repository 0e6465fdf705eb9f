import { listed } from '../kernel/duration.ts';
import { lookAlike } from '../kernel/text/look-alike.ts';
import { nearest } from '../kernel/text/nearest.ts';

/** A signer as far as it matters for who signs as what. */
export interface Party {
  email?: string | null | undefined;
  role?: string | null | undefined;
}

/** The roles of a template; inferred ones only show what earlier envelopes had. */
export interface KnownRoles {
  names: readonly string[];
  inferred: boolean;
}

/** Something about an envelope's signers that is seldom meant. */
export interface SignerProblem {
  /**
   * `wrong` can't be created; `incomplete` leaves a role of the template without a signer, and goes out only when somebody
   * says so; `odd` may be meant.
   */
  weight: 'wrong' | 'incomplete' | 'odd';
  text: string;
}

export const NO_ROLES: KnownRoles = { names: [], inferred: false };

/** What is to be said of these signers before an envelope of the template is created or sent. */
export function findProblems(parties: readonly Party[], roles: KnownRoles): SignerProblem[] {
  return [
    ...(roles.inferred ? [] : unknownRoles(parties, roles.names)),
    ...rolesWithoutSigner(rolesOf(parties), parties.filter(({ role }) => !role).length, roles.names).map(
      (role): SignerProblem =>
        roles.inferred
          ? {
              weight: 'odd',
              text: `Nobody signs as ${role}, as somebody did in earlier envelopes of this template.`,
            }
          : { weight: 'incomplete', text: `Nobody signs as ${role}.` },
    ),
    ...repeatedRoles(parties),
    ...repeatedAddresses(parties),
    ...likelyTypos(parties),
  ];
}

/** The roles that some of the parties name. */
export function rolesOf(parties: readonly Party[]): string[] {
  return parties.flatMap(({ role }) => (role ? [role] : []));
}

/** The roles that nobody has where these are named. Signers who name none (`free`) take the others, the first ones first. */
export function rolesWithoutSigner(
  named: readonly string[],
  free: number,
  names: readonly string[],
): string[] {
  return names.filter((role) => !named.includes(role)).slice(free);
}

function unknownRoles(parties: readonly Party[], names: readonly string[]): SignerProblem[] {
  if (names.length === 0) return [];
  return parties.flatMap(({ email, role }): SignerProblem[] => {
    if (!role || names.includes(role)) return [];
    return [
      {
        weight: 'wrong',
        text: `The template has no role "${role}" for ${email ?? 'a signer'}; ${suggestRole(role, names)}`.replace(
          /[^?]$/,
          '$&.',
        ),
      },
    ];
  });
}

/** The role that was most likely meant, else all there are. */
export function suggestRole(role: string, names: readonly string[]): string {
  const near = nearest(role, names);
  return near === undefined ? `it has ${names.join(', ')}` : `did you mean ${near}?`;
}

function repeatedRoles(parties: readonly Party[]): SignerProblem[] {
  return [...groups(parties, ({ role }) => role ?? '')].map(([role, several]) => {
    const who = several.map(({ email }) => email ?? 'a signer');
    const all = who.length === 2 ? 'both' : 'all';
    return { weight: 'odd', text: `${listed(who)} ${all} sign as ${role}.` };
  });
}

function repeatedAddresses(parties: readonly Party[]): SignerProblem[] {
  return [...groups(parties, ({ email }) => email?.toLowerCase() ?? '')].map(([, several]) => ({
    weight: 'odd',
    text: `${several[0]?.email ?? ''} stands here ${several.length === 2 ? 'twice' : `${several.length} times`}.`,
  }));
}

/** Addresses whose domain looks like a slip of a well-known one. */
function likelyTypos(parties: readonly Party[]): SignerProblem[] {
  return parties.flatMap(({ email }): SignerProblem[] => {
    const domain = lookAlike(email ?? '');
    return domain === undefined
      ? []
      : [{ weight: 'odd', text: `Is ${email ?? ''} meant to be at ${domain}?` }];
  });
}

/** Those that share a key with another one. */
function groups(parties: readonly Party[], keyOf: (party: Party) => string): Map<string, Party[]> {
  const all = new Map<string, Party[]>();
  for (const party of parties) all.set(keyOf(party), [...(all.get(keyOf(party)) ?? []), party]);
  return new Map([...all].filter(([key, several]) => key !== '' && several.length > 1));
}
