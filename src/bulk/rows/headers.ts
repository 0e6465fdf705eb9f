/** The fields of a signer in the create body. */
export const SIGNER_FIELDS: readonly string[] = ['email', 'name', 'role', 'order'];

/** The parts of a name in separate columns, in the order in which they are put together. */
export const NAME_PARTS: readonly string[] = ['firstName', 'lastName', 'secondLastName'];

/** The columns of an envelope, by the name of the field in the create body. */
const ENVELOPE_COLUMNS: Readonly<Record<string, string>> = {
  templateId: 'template_id',
  subject: 'subject',
  message: 'message',
  expiresInDays: 'expires_in_days',
  signingOrder: 'signing_order',
  webhookUrl: 'webhook_url',
  requestId: 'request_id',
};

/*
 * Common headers in English, German, French, and Spanish. Words that mean different things in different lists are left out: a title,
 * a function, a French "modèle", a Spanish "plantilla".
 */
const ENVELOPE_HEADERS: Readonly<Record<string, string>> = {
  templateId: 'Template, Vorlage, Vorlagen-ID, Vorlage-ID, ID du modèle, ID de plantilla',
  subject: 'Email subject, Betreff, Objet, Sujet, Asunto',
  message: 'Email message, Nachricht, Mensaje',
  expiresInDays: 'Ablauf in Tagen, Frist in Tagen, Expire dans (jours), Caduca en días, Vence en días',
  signingOrder: 'Signaturreihenfolge, Ordre de signature, Orden de firma',
};
const SIGNER_HEADERS: Readonly<Record<string, string>> = {
  email: `Mail, Email address, Mail address, E-Mail-Adresse, Mailadresse, Adresse e-mail, Adresse mail, Courriel, Adresse courriel,
    Adresse électronique, Courrier électronique, Correo, Correo electrónico, Dirección de correo,
    Dirección de correo electrónico, Dirección de email`,
  name: `Full name, Display name, First and last name, Vollständiger Name, Vollstaendiger Name, Vor- und Nachname,
    Name und Vorname, Nom, Nom complet, Nom et prénom, Prénom et nom, Nombre, Nombre completo, Nombre y apellido,
    Nombre y apellidos`,
  firstName: 'First name, Given name, Forename, Vorname, Vornamen, Prénom, Prénoms, Nombres',
  lastName: `Last name, Surname, Family name, Nachname, Familienname, Nom de famille, Apellido, Apellidos, Primer apellido,
    Apellido paterno, Apellido 1`,
  secondLastName: 'Segundo apellido, Apellido materno, Apellido 2',
  role: 'Rolle, Rol',
  order: 'Reihenfolge, Ordre, Orden',
};
/** The words for a signer in headers such as "Signer 2 email" and "E-mail du signataire 2". */
const SIGNER = 'signer|signatory|unterzeichner(?:in)?|signataire|firmante';
const SIGNER_FIRST = new RegExp(`^(?:${SIGNER})_?(\\d{1,2})?_(.+)$`);
const SIGNER_LAST = new RegExp(`^(.+?)_(?:(?:of|for|du|de|de_la|del)_)?(?:${SIGNER})_?(\\d{1,2})?$`);

/** Returns a header in the form used for comparison: lower case, without accents, with one `_` for what is between words. */
export function comparableName(header: string): string {
  return header
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_|_$/g, '');
}

/** Returns a header without what is between words, so that `E-mail` and `Email` are equal. */
export function compactName(header: string): string {
  return comparableName(header).replaceAll('_', '');
}

const wordsOf = (list: string) => list.split(',').map((header) => header.trim().replace(/\s+/g, ' '));

/** Returns the fields by each of their headers, in compact form. */
function byHeader(
  names: readonly (readonly [string, string])[],
  headers: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const all = [
    ...names,
    ...Object.entries(headers).flatMap(([field, list]) => wordsOf(list).map((one) => [field, one] as const)),
  ];
  return new Map(all.map(([field, header]) => [compactName(header), field]));
}

const ENVELOPE_FIELDS = byHeader(Object.entries(ENVELOPE_COLUMNS), ENVELOPE_HEADERS);
const FIELDS_OF_SIGNER = byHeader(
  SIGNER_FIELDS.map((field) => [field, field]),
  SIGNER_HEADERS,
);

/** Returns where the cells of a column go in the create body, by its header; undefined for an unknown header. */
export function bodyPathOfHeader(header: string): string[] | undefined {
  const field = ENVELOPE_FIELDS.get(compactName(header));
  if (field !== undefined) return [field];
  const word = comparableName(header);
  const [, first, ofFirst] = SIGNER_FIRST.exec(word) ?? [];
  const [, ofLast, last] = SIGNER_LAST.exec(word) ?? [];
  const number = Number(first ?? last ?? 1);
  const part = FIELDS_OF_SIGNER.get((ofFirst ?? ofLast ?? word).replaceAll('_', ''));
  return part === undefined || number === 0 ? undefined : ['signers', String(number - 1), part];
}

/** Headers whose typos are found. A short word is too similar to others. */
const MIN_ALIAS_LENGTH = 6;
const ALIASES = [...Object.values(ENVELOPE_HEADERS), ...Object.values(SIGNER_HEADERS)]
  .flatMap(wordsOf)
  .filter((header) => compactName(header).length >= MIN_ALIAS_LENGTH);
const COLUMN_NAMES = [...SIGNER_FIELDS, ...Object.values(ENVELOPE_COLUMNS)];

/** Returns all headers of which this one may be a typo. */
export function knownHeaders(header: string): string[] {
  const number = /^signer_?(\d+)/i.exec(header)?.[1] ?? '1';
  const numbered = SIGNER_FIELDS.map((name) => `signer${number}_${name}`);
  // "Apellido 3" is not a typo.
  return [...COLUMN_NAMES, ...numbered, ...(/\d/.test(header) ? [] : ALIASES)];
}
