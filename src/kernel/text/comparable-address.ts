import { domainToASCII } from 'node:url';

/**
 * Returns the form in which addresses of signers are compared: trimmed, in lower case and NFC, with the domain in ASCII. A text that
 * isn't an address is only trimmed and lowered, because a service may show anything.
 */
export function comparableSigner(address: string): string {
  const text = address.trim().normalize('NFC').toLowerCase();
  const at = text.lastIndexOf('@');
  const domain = at > 0 ? domainToASCII(text.slice(at + 1)) : '';
  return domain === '' ? text : `${text.slice(0, at)}@${domain}`;
}
