/** A signer as the service returns it. Lists may leave out any of these. */
interface Person {
  id?: string | null | undefined;
  name?: string | null | undefined;
  email?: string | null | undefined;
}

/** Returns a person's name, or otherwise the address. */
export function nameOf({ name, email }: Person): string {
  return name || email || 'a signer';
}

/** Returns `Ada Lovelace <ada@example.com>`, or only the address. */
export function mailboxOf({ name, email }: Person): string {
  return name && email && name !== email ? `${name} <${email}>` : name || email || 'a signer';
}

/** Returns a person's address, or otherwise the ID. */
export function addressOf({ email, id }: Person): string {
  return email || id || 'a signer';
}
