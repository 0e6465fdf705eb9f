import type { Envelope, Signer } from '../../api/resource-types.ts';
import { contentIn } from '../../catalog/markers.ts';
import { signersHint, signersNamed } from '../../catalog/named-signer.ts';
import { counted } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import { addressOf } from '../../kernel/text/person.ts';
import { wordsForHint } from '../../kernel/text/shell-words.ts';
import { LIMITS, OWN_METADATA_KEYS, REPLACES_KEY } from '../../kernel/vocabulary.ts';
import type { EnvelopeInput, SignerInput } from '../../once/create-body.ts';
import { lifetimeOf } from '../../once/wording.ts';
import { parseSigner, parseSigners } from '../signer-mailbox.ts';

/** The changes to make in the new envelope. Everything else stays the same. */
export interface ReplacementChanges {
  templateId?: string | undefined;
  /** `OLD=SIGNER`: the signer to replace, by address or ID, and the new signer. */
  signers?: readonly string[] | undefined;
  added?: readonly string[] | undefined;
  /** Addresses or IDs. */
  removed?: readonly string[] | undefined;
  subject?: string | undefined;
  message?: string | undefined;
  expiresInDays?: number | undefined;
  /** Required for a webhook, because the service never returns the old one. */
  webhookSecret?: string | undefined;
}

/** The change of one signer: only `before` if removed, only `after` if added. */
export interface SignerChange {
  before?: Signer;
  after?: SignerInput;
  /** The address was given without a name, so the signer keeps the previous name. */
  keepsName?: boolean;
  /** The address was given without a name, and the signer had none, so the address is the name. */
  nameIsAddress?: boolean;
}

export interface Replacement {
  envelope: EnvelopeInput;
  /** All signers in order, including unchanged ones. */
  signers: readonly SignerChange[];
}

/**
 * Returns the envelope that replaces another.
 * @throws UsageError if a signer doesn't exist, an address is not valid, or no signer would be left.
 */
export function buildReplacement(old: Envelope, changes: ReplacementChanges): Replacement {
  const templateId = changes.templateId ?? old.templateId;
  if (!templateId)
    throw new UsageError(`The service doesn't return the template for ${old.id}.`, {
      hint: 'Set it with --template.',
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
      // A corrected list then finds the new envelope, like one that it sent itself.
      content: changes.templateId === undefined && changes.subject === undefined ? contentIn(old) : undefined,
    },
  };
}

/** Returns true if the new envelope differs from the old one, or a template or an expiration was given. */
export function isChanged(old: Envelope, replacement: EnvelopeInput, changes: ReplacementChanges): boolean {
  const textOf = (signers: readonly SignerInput[]) =>
    JSON.stringify(signers.map(({ email, name, role, order }) => [email, name, role, order]));
  return (
    changes.templateId !== undefined ||
    changes.expiresInDays !== undefined ||
    replacement.webhookSecret !== undefined ||
    replacement.subject !== (old.subject || undefined) ||
    replacement.message !== (old.message || undefined) ||
    textOf(replacement.signers) !== textOf((old.signers ?? []).map(asInput))
  );
}

function ownMetadata({ metadata }: Envelope): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(metadata ?? {}).filter(([key]) => !OWN_METADATA_KEYS.includes(key)),
  );
}

function changeSigners(old: Envelope, { signers, added, removed }: ReplacementChanges): SignerChange[] {
  const replaced = new Map<Signer, string>();
  for (const text of signers ?? []) {
    const { name, mailbox } = parseReplacement(text, old);
    const before = onlySigner(old, name);
    if (replaced.has(before))
      throw new UsageError(`--signer is used twice for ${name}.`, { hint: 'Use it once for each signer.' });
    replaced.set(before, mailbox);
  }
  const left = new Set((removed ?? []).map((name) => onlySigner(old, name)));
  const both = [...left].find((one) => replaced.has(one));
  if (both)
    throw new UsageError(`${addressOf(both)} can't be both replaced and removed.`, {
      hint: 'Use either --signer or --remove-signer for this signer.',
    });
  const kept = (old.signers ?? []).map((before): SignerChange => {
    if (left.has(before)) return { before };
    const mailbox = replaced.get(before);
    return mailbox === undefined ? { before, after: asInput(before) } : replaceSigner(before, mailbox);
  });
  const all = [...kept, ...newSigners(added ?? [], old)];
  const count = all.filter(({ after }) => after !== undefined).length;
  if (count === 0)
    throw new UsageError('The new envelope would have no signers.', { hint: 'Add one with --add-signer.' });
  if (count > LIMITS.signers)
    throw new UsageError(`The new envelope would have ${counted(count, 'signer')}.`, {
      hint: `An envelope can have up to ${counted(LIMITS.signers, 'signer')}.`,
    });
  return all;
}

/** Parses OLD=SIGNER. Both sides may contain an equals sign, so OLD ends where an existing signer does. */
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
  throw new UsageError(`Invalid value for --signer: "${text}". It must be OLD=SIGNER.`, {
    hint: `Example: --signer old@example.com='Ada Lovelace <ada@example.com>'. ${signersHint(old) ?? ''}`.trim(),
  });
}

/** @throws UsageError if several signers have the address. */
function onlySigner(old: Envelope, name: string): Signer {
  const [first, ...others] = signersNamed(old, name);
  if (first !== undefined && others.length === 0) return first;
  const ids = [first, ...others].flatMap((one) => one?.id ?? []);
  throw new UsageError(
    `${old.id} has ${counted(others.length + 1, 'signer')} with the email address ${name}.`,
    {
      hint: `Use the ID instead of the email address: ${wordsForHint(ids).join(', ')}.`,
    },
  );
}

function asInput({ email, name, role, order }: Signer): SignerInput {
  return {
    email: email ?? '',
    name: name || (email ?? ''),
    ...(role ? { role } : {}),
    ...(typeof order === 'number' ? { order } : {}),
  };
}

/** Replaces a signer, who keeps the role and the order unless others are given. */
function replaceSigner(before: Signer, mailbox: string): SignerChange {
  const { signer, nameIsAddress } = parseSigner(mailbox);
  const keepsName = nameIsAddress && Boolean(before.name) && before.name !== before.email;
  const name = keepsName ? (before.name ?? signer.name) : signer.name;
  const { email: _, name: __, ...place } = asInput(before);
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
    // With a signing order, added signers sign last.
    after: signingOrder === 'SEQUENTIAL' ? { order: last + index + 1, ...signer } : signer,
    nameIsAddress,
  }));
}
