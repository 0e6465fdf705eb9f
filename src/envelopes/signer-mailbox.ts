import { counted } from '../kernel/duration.ts';
import { UsageError } from '../kernel/errors.ts';
import { lineProblem, nameProblem } from '../kernel/text/control-characters.ts';
import { addressProblem } from '../kernel/text/email-address.ts';
import { LIMITS } from '../kernel/vocabulary.ts';
import type { SignerInput } from '../once/create-body.ts';

export interface ParsedSigner {
  signer: SignerInput;
  /** True if no name was given, so the address is used instead. */
  nameIsAddress: boolean;
}

const EXAMPLE = `Examples: a@b.c, 'Ada Lovelace <a@b.c>', 'Ada Lovelace <a@b.c>;role=Tenant;order=1'.`;

/**
 * Parses a signer: a mailbox, then options after semicolons. A quoted name may contain any character; a semicolon outside
 * quotes ends the mailbox.
 * @throws UsageError that quotes the text and shows the correct form.
 */
export function parseSigner(text: string): ParsedSigner {
  const [mailbox = '', ...options] = splitOutsideQuotes(text);
  const people = [mailbox, ...options.filter((option) => !option.includes('='))];
  if (addressesIn(people.join(' ')).length > 1)
    throw refused(text, 'it has several addresses', 'Pass --signer once for each person.');
  const { name, email } = parseMailbox(mailbox.trim(), text);
  const signer: SignerInput = { email, name: name || email };
  for (const option of options) applyOption(signer, option, text);
  return { signer, nameIsAddress: name === '' };
}

/** Returns the different addresses in a text, outside quotes. */
function addressesIn(text: string): string[] {
  const outside = text.toLowerCase().replaceAll(/"(?:[^"\\]|\\.)*"/gs, ' ');
  const found = outside.match(/[^\s<>()[\],;:]+@[^\s<>()[\],;:@]+\.[^\s<>()[\],;:@]+/g) ?? [];
  return [...new Set(found)];
}

/** Returns the text that `parseSigner` parses into this signer. */
export function signerText(signer: SignerInput): string {
  const { email, name, role, order } = signer;
  const mailbox = name === '' || name === email ? email : `${quotedIfNeeded(name)} <${email}>`;
  const options = [
    role === undefined ? '' : `;role=${quotedIfNeeded(role)}`,
    order === undefined ? '' : `;order=${order}`,
  ];
  return `${mailbox}${options.join('')}`;
}

function quotedIfNeeded(text: string): string {
  return /[;"<>\\@]/.test(text) || unquote(text) !== text ? `"${text.replace(/["\\]/g, '\\$&')}"` : text;
}

function parseMailbox(mailbox: string, whole: string): { name: string; email: string } {
  const bracketed = /^(.*)<([^<>]*)>$/s.exec(mailbox);
  const email = (bracketed?.[2] ?? mailbox).trim();
  const written = (bracketed?.[1] ?? '').trim();
  const name = unquote(written);
  if (bracketed === null && !email.includes('@') && email !== '')
    throw new UsageError(`"${email}" has no email address.`, { hint: EXAMPLE });
  if (email === '') throw refused(whole, 'it has no email address');
  const problem = addressProblem(email);
  if (problem !== undefined) throw refused(whole, `"${email}" ${problem}`);
  if (name === written && /[<>]/.test(name))
    throw refused(whole, 'the name contains < or >; put the name in double quotes');
  refuseProblem('name', nameProblem(name), whole);
  return { name, email };
}

function refuseProblem(what: string, problem: string | undefined, whole: string): void {
  if (problem !== undefined) throw refused(whole, `the ${what} ${problem}`);
}

function applyOption(signer: SignerInput, option: string, whole: string): void {
  if (option.trim() === '') return;
  const equals = option.indexOf('=');
  const key = option.slice(0, equals).trim().toLowerCase();
  const value = unquote(option.slice(equals + 1).trim());
  if (equals < 1) throw refused(whole, `the option "${option.trim()}" has no value`);
  if (value === '') throw refused(whole, `the option ${key} is empty`);
  refuseProblem(key, lineProblem(value), whole);
  if (key === 'role') signer.role = value;
  else if (key === 'order') signer.order = parseOrder(value, whole);
  else throw refused(whole, `the option "${key}" is unknown; use role or order`);
}

function parseOrder(value: string, whole: string): number {
  if (!/^\d{1,4}$/.test(value)) throw refused(whole, `the order "${value}" is not a whole number`);
  return Number(value);
}

function splitOutsideQuotes(text: string): string[] {
  const parts = [''];
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (quoted && character === '\\' && i + 1 < text.length) {
      parts.push(`${parts.pop() ?? ''}${character}${text.charAt(++i)}`);
      continue;
    }
    if (character === '"') quoted = !quoted;
    if (character === ';' && !quoted) parts.push('');
    else parts.push(`${parts.pop() ?? ''}${character}`);
  }
  if (quoted) throw refused(text, 'a quote is not closed');
  return parts;
}

/** A text in single quotes, as Outlook writes names, or in those of word processors. */
const OTHER_QUOTES = /^(?:'([^']+)'|[“„]([^“”„]+)[”“]|[‘‚]([^‘’‚]+)[’‘])$/su;

function unquote(text: string): string {
  const inner = /^"(.*)"$/s.exec(text)?.[1];
  if (inner !== undefined) return inner.replace(/\\(.)/gs, '$1').trim();
  const [, ...quoted] = OTHER_QUOTES.exec(text) ?? [];
  return quoted.find(Boolean)?.trim() ?? text;
}

function refused(text: string, why: string, hint = EXAMPLE): UsageError {
  return new UsageError(`The signer "${text}" can't be read: ${why}.`, { hint });
}

/**
 * Parses all signers of an envelope.
 * @throws UsageError for no signer or more than 20 (API document, Limits).
 */
export function parseSigners(texts: readonly string[]): ParsedSigner[] {
  if (texts.length === 0)
    throw new UsageError('An envelope needs at least one signer.', { hint: `Pass --signer. ${EXAMPLE}` });
  if (texts.length > LIMITS.signers) {
    throw new UsageError(
      `An envelope can have up to ${counted(LIMITS.signers, 'signer')}, but this one has ${texts.length}.`,
      {
        hint: 'Remove some, or create several envelopes.',
      },
    );
  }
  return texts.map(parseSigner);
}
