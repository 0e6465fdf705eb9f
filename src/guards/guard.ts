import { randomBytes } from 'node:crypto';
import { READ_CONCURRENCY } from '../api/defaults.ts';
import type { Envelope } from '../api/schemas.ts';
import type { PlannedWrite } from '../api/write-gate.ts';
import { GuardError } from '../kernel/errors.ts';
import { mapInOrder } from '../kernel/streams.ts';
import {
  type Emails,
  EmailTally,
  emailsOfCreate,
  emailsOfEnvelope,
  hintFor,
  NO_EMAILS,
  UNKNOWN_EMAILS,
} from './emails.ts';
import { type Guards, requireUsablePolicy, sourceInWords } from './guards.ts';
import type { Write } from './write.ts';

/** The name that a person must type or pass as --confirm where the guard `confirmName` applies. */
export interface NameConfirmation {
  names: readonly [string, ...string[]];
  given: string | undefined;
  /** Prompts for the name. Undefined without a terminal. */
  ask: ((name: string) => Promise<string>) | undefined;
}

export interface GuardOptions {
  /** Returns the guards. Called at the first write. */
  guards: () => Promise<Guards>;
  confirmation: NameConfirmation;
}

/** Reads an envelope to find out whom a write would email. */
export type ReadEnvelope = (envelopeId: string) => Promise<Envelope>;

/** Decides whether a write is allowed. */
export class Guard {
  readonly #options: GuardOptions;
  #guards: Promise<Guards> | undefined;
  #tally = new EmailTally();
  /** Writes whose emails were counted. A retry emails nobody else. */
  readonly #counted = new Set<string>();
  /** The recipients of the drafts that this process created. */
  readonly #drafts = new Map<string, readonly string[]>();
  #mustConfirm = false;
  #confirming: Promise<void> | undefined;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** Checks all writes of a command, and resets the count of emails. @throws GuardError */
  async check(planned: readonly PlannedWrite[], read: ReadEnvelope): Promise<void> {
    this.#tally = new EmailTally();
    this.#counted.clear();
    const guards = await this.refuseAll();
    if (!hasLimits(guards)) return;
    const tally = new EmailTally();
    for await (const emails of mapInOrder(planned, READ_CONCURRENCY, (one) => this.#emailsOf(one, read)))
      tally.add(emails, guards);
    this.#requireConfirmation(tally, guards);
  }

  /**
   * Checks a write immediately before it is sent. The envelope is read again: a prompt may have taken a while since all writes
   * were checked, and a draft may have been sent in the meantime. @throws GuardError
   */
  async allow(write: Write, read: ReadEnvelope): Promise<void> {
    const guards = await this.refuseAll();
    const { action, envelopeId, requestId } = write;
    if (action === 'cancel' || !hasLimits(guards)) return;
    const key = `${action} ${envelopeId ?? requestId ?? randomBytes(8).toString('hex')}`;
    if (this.#counted.has(key)) return;
    const emails = await this.#emailsOfWrite(write, read);
    this.#tally.add(emails, guards);
    this.#counted.add(key);
    if (this.#confirming === undefined) this.#requireConfirmation(this.#tally, guards);
    await this.confirm();
  }

  get isConfirmed(): boolean {
    return this.#mustConfirm && this.#options.confirmation.given !== undefined;
  }

  /** Waits for the confirmation if one is required. @throws GuardError when the name is wrong or missing. */
  confirm(): Promise<void> {
    if (!this.#mustConfirm) return Promise.resolve();
    this.#confirming ??= this.#askName();
    return this.#confirming;
  }

  /** Keeps the recipients of a new draft until it is sent. */
  async remember({ action, emails }: Write, id: string | undefined): Promise<void> {
    if (id === undefined || !hasLimits(await this.#read())) return;
    if (action === 'send') this.#drafts.delete(id);
    if (action === 'create' && emails !== undefined) this.#drafts.set(id, emails);
  }

  /** Returns the guards. @throws GuardError when all writes are refused. */
  async refuseAll(): Promise<Guards> {
    const guards = await this.#read();
    requireUsablePolicy(guards);
    const { readOnly } = guards;
    if (readOnly === null) return guards;
    const where = sourceInWords(readOnly.source, guards);
    throw new GuardError('READ_ONLY', `Nothing was sent: ${where} allows only reading.`, {
      hint: hintFor(guards),
    });
  }

  #read(): Promise<Guards> {
    this.#guards ??= this.#options.guards();
    return this.#guards;
  }

  #emailsOfWrite(write: Write, read: ReadEnvelope): Promise<Emails> {
    const { action, envelopeId, emails, sends, signer } = write;
    if (action === 'create' && emails !== undefined) return this.#emailsOf({ action, emails, sends }, read);
    if (action === 'create' && !sends) return Promise.resolve({ to: undefined, count: 0 });
    if (envelopeId !== undefined && action === 'send') return this.#emailsOf({ action, envelopeId }, read);
    if (envelopeId !== undefined && action === 'remind')
      return this.#emailsOf({ action, envelopeId, signer }, read);
    return Promise.resolve(UNKNOWN_EMAILS);
  }

  async #emailsOf(planned: PlannedWrite, read: ReadEnvelope): Promise<Emails> {
    if (planned.action === 'create') return emailsOfCreate(planned);
    if (planned.action === 'cancel') return NO_EMAILS;
    const draft = planned.action === 'send' ? this.#drafts.get(planned.envelopeId) : undefined;
    if (draft !== undefined) return { to: draft, count: draft.length };
    return emailsOfEnvelope(await read(planned.envelopeId), planned);
  }

  #requireConfirmation(tally: EmailTally, guards: Guards): void {
    this.#mustConfirm = guards.confirmName !== null && tally.emailsSeveral;
    if (!this.#mustConfirm) return;
    const { given, ask, names } = this.#options.confirmation;
    if (given !== undefined && !names.includes(given))
      throw this.#notConfirmed(`"${given}" is a different name.`);
    if (given !== undefined) this.#confirming = Promise.resolve();
    else if (ask === undefined) throw this.#notConfirmed("--yes doesn't skip this.");
  }

  async #askName(): Promise<void> {
    const { names, ask } = this.#options.confirmation;
    const typed = (await ask?.(names[0])) ?? '';
    if (!names.includes(typed.trim())) throw this.#notConfirmed("The name you typed doesn't match.");
  }

  #notConfirmed(why: string): GuardError {
    const [name] = this.#options.confirmation.names;
    return new GuardError(
      'CONFIRMATION_REQUIRED',
      `This command emails more than one person, so you have to confirm it with the name ${name}. ${why} Nothing was sent.`,
      { hint: 'Type the name when you are prompted for it; in scripts, add `--confirm NAME`.' },
    );
  }
}

function hasLimits({ onlyTo, maxEmails, confirmName }: Guards): boolean {
  return onlyTo !== null || maxEmails !== null || confirmName !== null;
}
