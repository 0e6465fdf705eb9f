/** A signer as the service returns it. Lists may leave out any of these. */
interface NamedPerson {
  id?: string | null | undefined;
  name?: string | null | undefined;
  email?: string | null | undefined;
}

/** Returns a person's name, or otherwise the address or the ID. */
export function nameOf({ name, email, id }: NamedPerson): string {
  return name || email || id || 'a signer';
}

/** Returns `Ada Lovelace <ada@example.com>`, or only the address. */
export function mailboxOf(person: NamedPerson): string {
  const { name, email } = person;
  return name && email && name !== email ? `${name} <${email}>` : nameOf(person);
}

/** Returns a person's address, or otherwise the ID. */
export function addressOf({ email, id }: NamedPerson): string {
  return email || id || 'a signer';
}
