import type { Envelope, Signer } from '../../api/schemas.ts';
import { timeOf } from '../../kernel/clock.ts';
import { counted } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import { LIMITS, REPLACES_KEY, REQUEST_ID_KEY, ROW_KEY, RUN_KEY } from '../../kernel/vocabulary.ts';
import type { NewEnvelope } from '../create.ts';
import { signersHint, signersNamed } from '../named-signer.ts';
import { type NewSigner, parseSigner, parseSigners } from '../signer-mailbox.ts';

/** What is to be otherwise in the new envelope; all else stays as it was. */
export interface ReplacementChanges {
  templateId?: string | undefined;
  /** `OLD=MAILBOX`: who stands in whose place. OLD is an address or an id. */
  signers?: readonly string[] | undefined;
  added?: readonly string[] | undefined;
  /** By address or id. */
  removed?: readonly string[] | undefined;
  subject?: string | undefined;
  message?: string | undefined;
  expiresInDays?: number | undefined;
  /** The service never tells it. */
  webhookSecret?: string | undefined;
}

/** What became of one signer: `before` alone was taken out, `after` alone was added. */
export interface SignerChange {
  before?: Signer;
  after?: NewSigner;
  /** An address was given without a name: the new one keeps the name that stood there. */
  keepsName?: boolean;
  /** An address was given without a name, and there was none: the address is the name. */
  nameIsAddress?: boolean;
}

export interface Replacement {
  envelope: NewEnvelope;
  /** All signers, in order, those that stay included. */
  signers: readonly SignerChange[];
}

const DAY_MS = 86_400_000;
/** Marks of the tool itself, which belong to one envelope and no other. */
const OWN_KEYS: readonly string[] = [REQUEST_ID_KEY, RUN_KEY, ROW_KEY, REPLACES_KEY];

/**
 * The envelope that is to stand in the place of another.
 * @throws UsageError that names what does not fit: a signer there is not, an address that is none, nobody left.
 */
export function buildReplacement(old: Envelope, changes: ReplacementChanges): Replacement {
  const templateId = changes.templateId ?? old.templateId;
  if (!templateId)
    throw new UsageError(`The service does not tell the template of ${old.id}.`, {
      hint: 'Name it with --template.',
    });
  const signers = changeSigners(old, changes);
  const { subject = old.subject, message = old.message, expiresInDays = lifetimeOf(old) } = changes;
  return {
    signers,
    envelope: {
      templateId,
      signers: signers.flatMap(({ after }) => after ?? []),
      subject: subject || undefined,
      message: message || undefined,
      metadata: { ...ownMetadata(old), [REPLACES_KEY]: old.id },
      webhookUrl: old.webhookUrl || undefined,
      webhookSecret: old.webhookUrl ? changes.webhookSecret : undefined,
      expiresInDays,
      signingOrder: old.signingOrder || undefined,
    },
  };
}

/** True when the new envelope differs from the old one, or the template or the expiration was named. */
export function isChanged(old: Envelope, wanted: NewEnvelope, changes: ReplacementChanges): boolean {
  const textOf = (signers: readonly NewSigner[]) =>
    JSON.stringify(signers.map(({ email, name, role, order }) => [email, name, role, order]));
  return (
    changes.templateId !== undefined ||
    changes.expiresInDays !== undefined ||
    wanted.webhookSecret !== undefined ||
    wanted.subject !== (old.subject || undefined) ||
    wanted.message !== (old.message || undefined) ||
    textOf(wanted.signers) !== textOf((old.signers ?? []).map(asBefore))
  );
}

function ownMetadata({ metadata }: Envelope): Record<string, unknown> {
  return Object.fromEntries(Object.entries(metadata ?? {}).filter(([key]) => !OWN_KEYS.includes(key)));
}

/** How many days it had; undefined where its dates do not tell. They count from its creation, or from its sending. */
function lifetimeOf({ expiresAt, createdAt, sentAt }: Envelope): number | undefined {
  const days = [createdAt, sentAt].map((from) => (timeOf(expiresAt) - timeOf(from)) / DAY_MS);
  return days
    .map(Math.round)
    .find((whole, index) => whole >= 1 && Math.abs(whole - (days[index] ?? 0)) < 1 / 24);
}

function changeSigners(old: Envelope, { signers, added, removed }: ReplacementChanges): SignerChange[] {
  const replaced = new Map<Signer, string>();
  for (const text of signers ?? []) {
    const { name, mailbox } = parseReplacement(text, old);
    const before = onlySigner(old, name);
    if (replaced.has(before))
      throw new UsageError(`--signer names ${name} twice.`, { hint: 'Name each signer once.' });
    replaced.set(before, mailbox);
  }
  const left = new Set((removed ?? []).map((name) => onlySigner(old, name)));
  const both = [...left].find((one) => replaced.has(one));
  if (both)
    throw new UsageError(`${nameIn(both)} is to be replaced and removed.`, {
      hint: 'Leave out one of the two.',
    });
  const kept = (old.signers ?? []).map((before): SignerChange => {
    if (left.has(before)) return { before };
    const mailbox = replaced.get(before);
    return mailbox === undefined ? { before, after: asBefore(before) } : replaceSigner(before, mailbox);
  });
  const all = [...kept, ...newSigners(added ?? [], old)];
  const count = all.filter(({ after }) => after !== undefined).length;
  if (count === 0)
    throw new UsageError('Nobody would be left to sign.', { hint: 'Add somebody with --add-signer.' });
  if (count > LIMITS.signers)
    throw new UsageError(`There would be ${counted(count, 'signer')}.`, {
      hint: `An envelope takes ${LIMITS.signers} at most.`,
    });
  return all;
}

/** OLD=MAILBOX; either side may hold an equals sign, so that a signer there is decides where the first one ends. */
function parseReplacement(text: string, old: Envelope): { name: string; mailbox: string } {
  const names = (old.signers ?? [])
    .flatMap(({ id, email }) => [id, email])
    .filter((name) => typeof name === 'string');
  const lengths = names
    .filter((name) => text.toLowerCase().startsWith(`${name.toLowerCase()}=`))
    .map((name) => name.length);
  const at = lengths.length > 0 ? Math.max(...lengths) : text.indexOf('=');
  const [name, mailbox] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  if (at > 0 && name !== '' && mailbox !== '') return { name, mailbox };
  throw new UsageError(`--signer "${text}" is not of the form OLD=MAILBOX.`, {
    hint: `Write it like --signer old@example.com='Ada Lovelace <ada@example.com>'. ${signersHint(old) ?? ''}`.trim(),
  });
}

/** @throws UsageError where the address stands more than once. */
function onlySigner(old: Envelope, name: string): Signer {
  const [first, ...others] = signersNamed(old, name);
  if (first !== undefined && others.length === 0) return first;
  const ids = [first, ...others].flatMap((one) => one?.id ?? []);
  throw new UsageError(`${name} stands ${others.length + 1} times in ${old.id}.`, {
    hint: `Say which by its id: ${ids.join(', ')}.`,
  });
}

function asBefore({ email, name, role, order }: Signer): NewSigner {
  return {
    email: email ?? '',
    name: name || (email ?? ''),
    ...(role ? { role } : {}),
    ...(typeof order === 'number' ? { order } : {}),
  };
}

/** Somebody else signs as what the one before did, unless it is said otherwise. */
function replaceSigner(before: Signer, mailbox: string): SignerChange {
  const { signer, nameIsAddress } = parseSigner(mailbox);
  const keepsName = nameIsAddress && Boolean(before.name) && before.name !== before.email;
  const name = keepsName ? (before.name ?? signer.name) : signer.name;
  const { email: _, name: __, ...place } = asBefore(before);
  return {
    before,
    after: { ...place, ...signer, name },
    keepsName,
    nameIsAddress: nameIsAddress && !keepsName,
  };
}

function newSigners(mailboxes: readonly string[], { signingOrder, signers }: Envelope): SignerChange[] {
  if (mailboxes.length === 0) return [];
  const last = Math.max(0, ...(signers ?? []).map(({ order }) => order ?? 0));
  return parseSigners(mailboxes).map(({ signer, nameIsAddress }, index) => ({
    // Who is added signs last, where it goes one after the other.
    after: signingOrder === 'SEQUENTIAL' ? { order: last + index + 1, ...signer } : signer,
    nameIsAddress,
  }));
}

function nameIn({ email, id }: Signer): string {
  return email ?? id ?? 'a signer';
}
