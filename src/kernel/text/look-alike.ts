/** Email providers whose names are often mistyped, and providers that only look like a typo of another one. */
const PROVIDERS = [
  'gmail.com',
  'googlemail.com',
  'hotmail.com',
  'hotmail.co.uk',
  'hotmail.fr',
  'outlook.com',
  'outlook.de',
  'live.com',
  'msn.com',
  'yahoo.com',
  'yahoo.co.uk',
  'yahoo.de',
  'yahoo.fr',
  'icloud.com',
  'me.com',
  'mac.com',
  'aol.com',
  'proton.me',
  'protonmail.com',
  'gmx.de',
  'gmx.net',
  'gmx.at',
  'gmx.ch',
  'web.de',
  't-online.de',
  'orange.fr',
  'comcast.net',
  'verizon.net',
];
const REAL = new Set([
  ...PROVIDERS,
  'mail.com',
  'email.com',
  'ymail.com',
  'gmx.com',
  'aim.com',
  'aol.de',
  'live.co.uk',
  'live.de',
  'live.fr',
  'outlook.fr',
  'me.co',
]);
/** The minimum length of a name. Shorter ones differ from too many others by only one letter. */
const MIN_LENGTH = 8;

/** Returns the well-known domain that differs from the address's domain by one typo, such as gmail.com for `gmial.com`. */
export function lookAlike(email: string): string | undefined {
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  if (REAL.has(domain)) return undefined;
  return PROVIDERS.find((known) => known.length >= MIN_LENGTH && isOneEditAway(domain, known));
}

/** Returns true if one letter was added, omitted, or changed, or if two neighboring letters were swapped. */
function isOneEditAway(text: string, known: string): boolean {
  if (Math.abs(text.length - known.length) > 1) return false;
  let at = 0;
  while (at < text.length && text[at] === known[at]) at++;
  const rest = text.slice(at);
  const knownRest = known.slice(at);
  if (rest === knownRest) return false;
  const swapped = rest.length > 1 && rest[0] === knownRest[1] && rest[1] === knownRest[0];
  return (
    rest.slice(1) === knownRest.slice(1) ||
    rest.slice(1) === knownRest ||
    rest === knownRest.slice(1) ||
    (swapped && rest.slice(2) === knownRest.slice(2))
  );
}
