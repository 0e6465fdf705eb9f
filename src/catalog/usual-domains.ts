import { distance } from 'fastest-levenshtein';
import { domainOf } from '../kernel/text/email-address.ts';
import { isTypo } from '../kernel/text/nearest.ts';

/** At a common domain, at least this many people have signed. */
const COMMON = 3;
/** In shorter domains, two changed letters make another name. */
const LONG_DOMAIN = 10;

/** The domains at which people of an account have signed. Addresses are in the form in which they are compared. */
export class UsualDomains {
  /** The addresses that have signed at each domain, up to the number that makes it common. */
  readonly #domains = new Map<string, Set<string>>();

  /** Adds an address that has signed. */
  add(address: string): void {
    const domain = domainOf(address);
    const known = this.#domains.get(domain);
    if (known === undefined) this.#domains.set(domain, new Set([address]));
    else if (known.size < COMMON) known.add(address);
  }

  /** Returns the common domain that differs by a typo from that of the address, at which nobody has signed. */
  similarTo(address: string): string | undefined {
    const domain = domainOf(address);
    if (this.#domains.has(domain)) return undefined;
    for (const [known, { size }] of this.#domains)
      if (size >= COMMON && isSimilar(domain, known)) return known;
    return undefined;
  }
}

/** Returns true if one letter differs or two are swapped; in a long domain, also if any two differ. */
function isSimilar(domain: string, known: string): boolean {
  return isTypo(domain, known) || (domain.length >= LONG_DOMAIN && distance(domain, known) === 2);
}
