import { domainOf } from './email-address.ts';
import { isTypo } from './nearest.ts';
import { wordList } from './word-list.ts';

/** Email providers whose names are often mistyped, and providers that only look like a typo of another one. */
const PROVIDERS = wordList(`gmail.com googlemail.com hotmail.com hotmail.co.uk hotmail.fr outlook.com
  outlook.de live.com msn.com yahoo.com yahoo.co.uk yahoo.de yahoo.fr icloud.com me.com mac.com aol.com
  proton.me protonmail.com gmx.de gmx.net gmx.at gmx.ch web.de t-online.de orange.fr comcast.net verizon.net`);
const REAL = new Set([
  ...PROVIDERS,
  ...wordList(
    'mail.com email.com ymail.com gmx.com aim.com aol.de live.co.uk live.de live.fr outlook.fr me.co',
  ),
]);
/** The minimum length of a name. Shorter ones differ from too many others by only one letter. */
const MIN_LENGTH = 8;

/** Returns the well-known domain that differs from the address's domain by one typo, such as gmail.com for `gmial.com`. */
export function suggestDomain(email: string): string | undefined {
  const domain = domainOf(email).toLowerCase();
  if (REAL.has(domain)) return undefined;
  return PROVIDERS.find((known) => known.length >= MIN_LENGTH && isTypo(domain, known));
}
