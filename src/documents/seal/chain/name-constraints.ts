import { type Element, unreadable } from '../asn1.ts';
import { nameOf } from './names.ts';

/** A name that a certificate is for, of the kinds that constraints can be checked against (RFC 5280, 4.2.1.6). */
export type GeneralName =
  | { kind: 'email' | 'dns' | 'uri'; value: string }
  | { kind: 'directory'; value: readonly string[] }
  | { kind: 'ip'; value: Buffer }
  /** A kind that can't be checked; `value` is its number. */
  | { kind: 'other'; value: number };

/** The names that an authority may, and may not, issue certificates for. */
export interface NameConstraints {
  permitted: readonly GeneralName[];
  excluded: readonly GeneralName[];
}

const TEXT_KINDS: Readonly<Record<number, 'email' | 'dns' | 'uri'>> = { 1: 'email', 2: 'dns', 6: 'uri' };
const DIRECTORY = 4;
const IP = 7;

/** Reads a GeneralName. */
export function generalNameOf(element: Element): GeneralName {
  const kind = element.context ?? -1;
  const text = TEXT_KINDS[kind];
  if (text !== undefined) return { kind: text, value: element.content.toString('latin1') };
  if (kind === DIRECTORY) return { kind: 'directory', value: nameOf(element.part(0)) };
  if (kind === IP) return { kind: 'ip', value: element.content };
  return { kind: 'other', value: kind };
}

/** Reads the extension. @throws UnreadableSignatureError for limits on the depth, which nobody may use (4.2.1.10). */
export function nameConstraintsOf(value: Element): NameConstraints {
  const subtrees = (tag: number) =>
    (value.parts.find(({ context }) => context === tag)?.parts ?? []).map((subtree) => {
      if (subtree.parts.length !== 1) throw unreadable('a name constraint has a depth');
      return generalNameOf(subtree.part(0));
    });
  return { permitted: subtrees(0), excluded: subtrees(1) };
}

/** Whether every name may be used below the authority; a kind that is constrained and can't be checked may not. */
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

/** The base is an address and a mask, one after the other. */
function isInRange(address: Buffer, base: Buffer): boolean {
  const { length } = address;
  if (base.length !== 2 * length) return false;
  return address.every((byte, index) => {
    const mask = base[length + index] ?? 0;
    return (byte & mask) === ((base[index] ?? 0) & mask);
  });
}

/** The base is an address, a host, or `.domain` for every host in it. */
function isEmailWithin(email: string, base: string): boolean {
  const at = email.lastIndexOf('@');
  const baseAt = base.lastIndexOf('@');
  const host = email.slice(at + 1);
  if (baseAt < 0) return isHostNamed(host, base);
  const isSameBox = email.slice(0, at) === base.slice(0, baseAt);
  return isSameBox && host.toLowerCase() === base.slice(baseAt + 1).toLowerCase();
}

/** `.domain` means every host in it; anything else one host. */
function isHostNamed(host: string, base: string): boolean {
  const [low, wanted] = [host.toLowerCase(), base.toLowerCase()];
  return wanted === '' || (wanted.startsWith('.') ? low.endsWith(wanted) : low === wanted);
}

/** A DNS base means that host and every host below it. */
function isHostBelow(host: string, base: string): boolean {
  const [low, wanted] = [host.toLowerCase(), base.toLowerCase()];
  return wanted === '' || low === wanted || low.endsWith(wanted.startsWith('.') ? wanted : `.${wanted}`);
}

function hostOf(uri: string): string {
  return URL.canParse(uri) ? new URL(uri).hostname : '';
}
