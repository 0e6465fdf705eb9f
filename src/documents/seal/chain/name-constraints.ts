import { type Element, unreadable } from '../asn1.ts';
import { nameOf } from './names.ts';

/** A name in a certificate, of a kind for which name constraints can be checked (RFC 5280, 4.2.1.6). */
export type GeneralName =
  | { kind: 'email' | 'dns' | 'uri'; value: string }
  | { kind: 'directory'; value: readonly string[] }
  | { kind: 'ip'; value: Buffer }
  /** A kind that can't be checked; `value` is its tag number. */
  | { kind: 'other'; value: number };

/** The names for which an authority may and may not issue certificates. */
export interface NameConstraints {
  permitted: readonly GeneralName[];
  excluded: readonly GeneralName[];
}

const TEXT_KINDS: Readonly<Record<number, 'email' | 'dns' | 'uri'>> = { 1: 'email', 2: 'dns', 6: 'uri' };
const DIRECTORY = 4;
const IP = 7;

export function generalNameOf(element: Element): GeneralName {
  const kind = element.context ?? -1;
  const text = TEXT_KINDS[kind];
  if (text !== undefined) return { kind: text, value: element.content.toString('latin1') };
  if (kind === DIRECTORY) return { kind: 'directory', value: nameOf(element.part(0)) };
  if (kind === IP) return { kind: 'ip', value: element.content };
  return { kind: 'other', value: kind };
}

/** Reads the name constraints extension. @throws UnreadableSignatureError for depth limits, which are not allowed (4.2.1.10). */
export function nameConstraintsOf(value: Element): NameConstraints {
  const subtrees = (tag: number) =>
    (value.parts.find(({ context }) => context === tag)?.parts ?? []).map((subtree) => {
      if (subtree.parts.length !== 1) throw unreadable('a name constraint has an unsupported depth');
      return generalNameOf(subtree.part(0));
    });
  return { permitted: subtrees(0), excluded: subtrees(1) };
}

/** Returns true if every name is allowed below the authority. A name of a constrained kind that can't be checked is not. */
export function areAllowed(names: readonly GeneralName[], { permitted, excluded }: NameConstraints): boolean {
  return names.every((name) => {
    const isSameKind = (base: GeneralName) =>
      base.kind === name.kind && (name.kind !== 'other' || base.value === name.value);
    const [allowed, refused] = [permitted.filter(isSameKind), excluded.filter(isSameKind)];
    if (name.kind === 'other') return allowed.length === 0 && refused.length === 0;
    const isAllowed = allowed.length === 0 || allowed.some((base) => isWithin(name, base));
    return isAllowed && !refused.some((base) => isWithin(name, base));
  });
}

function isWithin(name: GeneralName, base: GeneralName): boolean {
  if (name.kind === 'directory' && base.kind === 'directory')
    return base.value.every((part, index) => name.value[index] === part);
  if (name.kind === 'ip' && base.kind === 'ip') return isInRange(name.value, base.value);
  if (name.kind === 'email' && base.kind === 'email') return isEmailWithin(name.value, base.value);
  if (name.kind === 'dns' && base.kind === 'dns') return isHostBelow(name.value, base.value);
  if (name.kind === 'uri' && base.kind === 'uri') return isHostNamed(hostOf(name.value), base.value);
  return false;
}

/** Returns true if an IP address is in a range. The base is an address followed by a mask. */
function isInRange(address: Buffer, base: Buffer): boolean {
  const { length } = address;
  if (base.length !== 2 * length) return false;
  return address.every((byte, index) => {
    const mask = base[length + index] ?? 0;
    return (byte & mask) === ((base[index] ?? 0) & mask);
  });
}

/** Returns true if an email address matches the base, which is an address, a host, or `.domain` for every host in the domain. */
function isEmailWithin(email: string, base: string): boolean {
  const at = email.lastIndexOf('@');
  const baseAt = base.lastIndexOf('@');
  const host = email.slice(at + 1);
  if (baseAt < 0) return isHostNamed(host, base);
  const isSameBox = email.slice(0, at) === base.slice(0, baseAt);
  return isSameBox && host.toLowerCase() === base.slice(baseAt + 1).toLowerCase();
}

/** Returns true if a host matches the base: `.domain` means every host in the domain, anything else a single host. */
function isHostNamed(host: string, base: string): boolean {
  const [low, wanted] = [host.toLowerCase(), base.toLowerCase()];
  return wanted === '' || (wanted.startsWith('.') ? low.endsWith(wanted) : low === wanted);
}

/** Returns true if a host matches a DNS base, which means the host itself and every host below it. */
function isHostBelow(host: string, base: string): boolean {
  const [low, wanted] = [host.toLowerCase(), base.toLowerCase()];
  return wanted === '' || low === wanted || low.endsWith(wanted.startsWith('.') ? wanted : `.${wanted}`);
}

function hostOf(uri: string): string {
  return URL.canParse(uri) ? new URL(uri).hostname : '';
}
