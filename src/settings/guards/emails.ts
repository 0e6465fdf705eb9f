import type { Envelope, Signer } from '../../api/resource-types.ts';
import { GuardError } from '../../kernel/errors.ts';
import { canBeReminded, canBeSent, isPending } from '../../kernel/statuses.ts';
import { comparableAddress, comparableSigner } from '../../kernel/text/email-address.ts';
import { matchesPattern } from './addresses.ts';
import { type Guards, hintFor, sourceInWords } from './guards.ts';

/** The recipients of a write. */
export interface EmailRecipients {
  /** All recipients, including those of a draft; undefined if they can't be read. */
  to: readonly string[] | undefined;
  /** The number of emails that it sends; undefined if that can't be known. */
  count: number | undefined;
}

export const NO_EMAILS: EmailRecipients = { to: [], count: 0 };
export const UNKNOWN_EMAILS: EmailRecipients = { to: undefined, count: undefined };

/** Returns who would be emailed. A request that the service refuses emails nobody. */
export function emailsOfEnvelope(
  { status, signers }: Envelope,
  planned: { action: 'send' | 'remind'; signer?: string | undefined },
): EmailRecipients {
  const isPossible = planned.action === 'send' ? canBeSent(status) : canBeReminded(status);
  if (!isPossible) return NO_EMAILS;
  if (!signers || signers.length === 0) return UNKNOWN_EMAILS;
  const emailed = planned.action === 'send' ? signers : remindedEmails(signers, planned.signer);
  const to = emailed.flatMap(({ email }) => email ?? []);
  return { to: to.length === emailed.length ? to : undefined, count: emailed.length };
}

function remindedEmails(signers: readonly Signer[], named: string | undefined): readonly Signer[] {
  const found = signers.filter(({ id }) => named !== undefined && id === named);
  if (found.length > 0) return found;
  // The API document knows only IDs. A service may ignore anything else, or find a signer by it.
  const isNamed = ({ email }: Signer) =>
    named !== undefined && comparableSigner(email ?? '') === comparableSigner(named);
  return signers.filter((signer) => isPending(signer) || isNamed(signer));
}

/** The emails of a command so far. */
export class EmailTally {
  #count = 0;
  readonly #people = new Set<string>();

  /**
   * Adds the emails of a write.
   * @throws GuardError when the write is not allowed. In that case, nothing is added.
   */
  add({ to, count }: EmailRecipients, guards: Guards): void {
    checkRecipients(to, guards);
    const { maxEmails } = guards;
    const total = count === undefined ? undefined : this.#count + count;
    if (maxEmails !== null && (total === undefined || total > maxEmails.value))
      throw tooMany(total, maxEmails, guards);
    this.#count += count ?? 2;
    if (count === 0) return;
    for (const address of to ?? []) this.#people.add(comparableAddress(address) ?? address);
    // If recipients can't be read, each may be a different person.
    if (to === undefined)
      for (let index = 0; index < (count ?? 2); index++) this.#people.add(`?${this.#people.size}`);
  }

  /** True if more than one person is emailed. */
  get emailsSeveral(): boolean {
    return this.#people.size > 1 && this.#count > 1;
  }
}

function checkRecipients(to: readonly string[] | undefined, guards: Guards): void {
  const { onlyTo } = guards;
  if (onlyTo === null) return;
  const where = sourceInWords(onlyTo.source, guards);
  if (to === undefined)
    throw new GuardError(
      'RECIPIENT_NOT_ALLOWED',
      `The recipients can't be determined, and ${where} limits who may be emailed.`,
      {
        hint: 'Use a command such as `esign envelopes create`, or send only documented fields.',
      },
    );
  const isAllowed = (address: string) => {
    const comparable = comparableAddress(address);
    return comparable !== undefined && onlyTo.value.some((pattern) => matchesPattern(pattern, comparable));
  };
  const refused = to.find((address) => !isAllowed(address));
  if (refused === undefined) return;
  const allowed = onlyTo.value.length === 0 ? 'nobody' : `only ${onlyTo.value.join(', ')}`;
  throw new GuardError(
    'RECIPIENT_NOT_ALLOWED',
    `${refused} is not an allowed recipient: ${where} allows ${allowed}.`,
    { hint: hintFor(guards) },
  );
}

function tooMany(
  count: number | undefined,
  { value, source }: NonNullable<Guards['maxEmails']>,
  guards: Guards,
): GuardError {
  const where = sourceInWords(source, guards);
  const message =
    count === undefined
      ? `The number of emails can't be determined, and ${where} allows ${value} per command.`
      : `This command would send ${count} emails, but ${where} allows ${value} per command.`;
  return new GuardError('TOO_MANY_EMAILS', message, { hint: hintFor(guards) });
}
