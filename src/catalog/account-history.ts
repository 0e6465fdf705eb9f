import type { Envelope, Signer } from '../api/resource-types.ts';
import { timeOf } from '../kernel/clock.ts';
import { hasSigned, isInFlight } from '../kernel/statuses.ts';
import { comparableSigner } from '../kernel/text/email-address.ts';
import { foldText } from '../kernel/text/search-words.ts';
import { UsualDomains } from './usual-domains.ts';

/*
 * What an account already knows about the people who are about to be asked to sign. These are only hints: nothing is refused because
 * of them.
 */

/** A request that is about to be sent. */
export interface AskedRow {
  /** Its line in the file; undefined for a single envelope. */
  line?: number | undefined;
  templateId: string;
  signers: readonly AskedSigner[];
}
export interface AskedSigner {
  email: string;
  /** The address if there is no name. */
  name: string;
}

/** How many people there are, and since when (ISO 8601): the earliest of their times that is known. */
export interface PeopleSince {
  people: number;
  since: string | null;
}

/** Someone who has an open envelope of the same template at another address. */
export interface MovedSigner {
  line: number | null;
  name: string;
  email: string;
  otherEmail: string;
  envelopeId: string;
}

/** An address at a domain at which nobody has signed, although many have at a similar one. */
export interface UnknownDomain {
  line: number | null;
  email: string;
  similar: string;
}

export interface HistoryFindings {
  /** Those who have signed the template. */
  signed: PeopleSince;
  /** Those who are asked to sign the template by an open envelope. */
  open: PeopleSince;
  moved: MovedSigner[];
  domains: UnknownDomain[];
}

/** A signer of an earlier envelope. */
interface EarlierSigner {
  templateId: string;
  envelopeId: string;
  email: string;
  state: 'signed' | 'open';
  /** When it was signed or sent, in ms; NaN if unknown. */
  at: number;
}

/** Who has signed more envelopes of a template than this signs for a company, as a manager or a landlord does. */
const MAX_OWN_ENVELOPES = 3;

/** Collects what earlier envelopes show about the people of a list, and about the domains at which people sign. */
export class AccountHistory {
  readonly #byAddress = new Map<string, EarlierSigner[]>();
  readonly #byName = new Map<string, EarlierSigner[]>();
  readonly #domains = new UsualDomains();
  readonly #seen = new Set<string>();

  readonly #now: number;

  /** Only what concerns these people is kept. `now`: the service's time, in ms. */
  constructor(people: Iterable<AskedSigner>, now: number) {
    this.#now = now;
    for (const signer of people) {
      this.#byAddress.set(comparableSigner(signer.email), []);
      const name = nameKey(signer);
      if (name !== undefined) this.#byName.set(name, []);
    }
  }

  /** Adds an envelope. Of several states of the same one, the first counts. */
  add({ id, templateId, status, sentAt, expiresAt, signers }: Envelope): void {
    if (!signers?.length || this.#seen.has(id)) return;
    this.#seen.add(id);
    // The index may show it as it was before it was signed or expired.
    const isOpen = isInFlight(status) && !(timeOf(expiresAt) <= this.#now);
    for (const { name, email, ...progress } of signers) {
      const state = stateOf(progress, status, isOpen);
      if (state === undefined || !email) continue;
      if (state === 'signed') this.#domains.add(comparableSigner(email));
      const at = timeOf(state === 'signed' ? progress.signedAt : sentAt);
      const person = { email, name: name ?? '' };
      if (templateId) this.#addOccurrence(person, { templateId, envelopeId: id, email, state, at });
    }
  }

  /** Returns true if the envelope is open, is not added yet, and asks one of the people. Somebody may have signed it since it was stored. */
  isToReadAgain({ id, status, signers }: Envelope): boolean {
    if (this.#seen.has(id) || !isInFlight(status)) return false;
    return (signers ?? []).some(({ email }) => email && this.#byAddress.has(comparableSigner(email)));
  }

  #addOccurrence(person: AskedSigner, one: EarlierSigner): void {
    this.#byAddress.get(comparableSigner(person.email))?.push(one);
    if (one.state === 'open') this.#byName.get(nameKey(person) ?? '')?.push(one);
  }

  /** Returns what is known about the people of these rows. */
  findings(rows: readonly AskedRow[]): HistoryFindings {
    const listed = rows.flatMap(({ line = null, templateId, signers }) =>
      signers.map(({ email, name }) => ({ line, templateId, email, name })),
    );
    return {
      ...this.#peopleKnown(listed),
      moved: listed.flatMap(({ line, templateId, email, name }) => {
        const other = this.#openElsewhere({ email, name }, templateId);
        return other ? [{ line, name, email, otherEmail: other.email, envelopeId: other.envelopeId }] : [];
      }),
      domains: listed.flatMap(({ line, email }) => {
        const similar = this.#domains.similarTo(comparableSigner(email));
        return similar === undefined ? [] : [{ line, email, similar }];
      }),
    };
  }

  /** Returns how many have signed the template or have it open. Who signs many of them is expected to have signed others. */
  #peopleKnown(
    listed: readonly { templateId: string; email: string }[],
  ): Pick<HistoryFindings, 'signed' | 'open'> {
    const times = { signed: new Map<string, number>(), open: new Map<string, number>() };
    const rows = new Map<string, number>();
    for (const { email } of listed)
      rows.set(comparableSigner(email), (rows.get(comparableSigner(email)) ?? 0) + 1);
    for (const { email, templateId } of listed) {
      const address = comparableSigner(email);
      const before = (this.#byAddress.get(address) ?? []).filter((one) => one.templateId === templateId);
      const isRoutine = (rows.get(address) ?? 0) > 1 || before.length > MAX_OWN_ENVELOPES;
      for (const { state, at } of isRoutine ? [] : before) noteEarliest(times[state], address, at);
    }
    return { signed: peopleSince(times.signed), open: peopleSince(times.open) };
  }

  /** Returns where a person of this name has the template open. Addresses that are asked, too, belong to others of this name. */
  #openElsewhere(signer: AskedSigner, templateId: string): EarlierSigner | undefined {
    return this.#byName
      .get(nameKey(signer) ?? '')
      ?.find((one) => one.templateId === templateId && !this.#byAddress.has(comparableSigner(one.email)));
  }
}

function stateOf(
  signer: Pick<Signer, 'status' | 'signedAt'>,
  status: string | null | undefined,
  isOpen: boolean,
): EarlierSigner['state'] | undefined {
  if (hasSigned(signer) || status === 'COMPLETED') return 'signed';
  return isOpen ? 'open' : undefined;
}

/** Returns the form in which names are compared; undefined for a signer without one. */
function nameKey({ name, email }: AskedSigner): string | undefined {
  const key = foldText(name).replaceAll(/\s+/g, ' ').trim();
  return key === '' || key === foldText(email) || key.includes('@') ? undefined : key;
}

function noteEarliest(times: Map<string, number>, address: string, at: number): void {
  const known = times.get(address);
  if (known === undefined || Number.isNaN(known) || at < known) times.set(address, at);
}

function peopleSince(times: ReadonlyMap<string, number>): PeopleSince {
  const known = [...times.values()].filter((at) => !Number.isNaN(at));
  const first = known.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY);
  return { people: times.size, since: known.length === 0 ? null : new Date(first).toISOString() };
}
