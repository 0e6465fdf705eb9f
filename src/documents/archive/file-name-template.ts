import type { Envelope } from '../../api/resource-types.ts';
import { UsageError } from '../../kernel/errors.ts';
import { valueText } from '../../kernel/text/exact-json.ts';
import { safeFileName } from './file-names.ts';

/** The values for the fields of a template, for a document of an envelope or for a bare storage key. */
export type NameValues = Readonly<Record<string, string | null | undefined>>;

interface Field {
  name: string;
  format: string | undefined;
}

/** The parsed form of a layout such as `{completedAt:yyyy-MM}/{templateName}/{envelopeId}.{what}.pdf`. */
export interface NameTemplate {
  segments: readonly (string | Field)[];
}

const DATES = ['createdAt', 'sentAt', 'completedAt', 'expiresAt'] as const;
const TEXTS = ['templateId', 'templateName', 'subject', 'status'] as const;
const ENVELOPE_FIELDS = ['envelopeId', 'what', 'signer', ...TEXTS, 'key', ...DATES] as const;
const KEY_FIELDS = ['key', 'name', 'envelopeId', 'what'] as const;

/** Stands for a path separator until every part is cleaned. Cleaned text never contains it. */
const SEPARATOR = '\u0000';

/**
 * Parses a layout.
 * @throws UsageError for an unknown field or an unclosed brace.
 */
export function parseNameTemplate(text: string, of: 'envelope' | 'key'): NameTemplate {
  const segments: (string | Field)[] = [];
  let rest = text;
  while (rest !== '') {
    const found = /^\{([^{}:]*)(?::([^{}]*))?\}/.exec(rest);
    if (found) segments.push(fieldOf(found[1] ?? '', found[2], of));
    else if (/^[{}]/.test(rest))
      throw new UsageError(`The name template "${text}" has an unmatched brace.`, {
        hint: 'Example: {envelopeId}.{what}.pdf',
      });
    const literal = found ? '' : (/^[^{}]+/.exec(rest)?.[0] ?? '');
    if (literal !== '') segments.push(literal);
    rest = rest.slice(found ? found[0].length : literal.length);
  }
  return { segments };
}

function fieldOf(name: string, format: string | undefined, of: 'envelope' | 'key'): Field {
  const known: readonly string[] = of === 'envelope' ? ENVELOPE_FIELDS : KEY_FIELDS;
  const isMetadata = of === 'envelope' && /^metadata\..+/.test(name);
  if (!isMetadata && !known.includes(name)) {
    const all = [...known.map((one) => `{${one}}`), ...(of === 'envelope' ? ['{metadata.KEY}'] : [])];
    throw new UsageError(`Unknown field {${name}} in --name-template.`, {
      hint: `The fields are ${all.join(', ')}.`,
    });
  }
  const isDate = DATES.some((date) => date === name);
  if (format !== undefined && (!isDate || !/^(yyyy|MM|dd|HH|mm|ss|[-_. ])+$/.test(format))) {
    throw new UsageError(`Invalid date format: {${name}:${format}}.`, {
      hint: 'Use yyyy, MM, dd, HH, mm, and ss, with - _ . or spaces between them. Example: {completedAt:yyyy-MM}',
    });
  }
  return { name, format: isDate ? (format ?? 'yyyy-MM-dd') : undefined };
}

/**
 * Returns the relative path, with slashes. Each part is cleaned separately, so that a value can't enter or leave a folder. Only {key} can
 * contain folders. A missing value becomes `no-FIELD`.
 */
export function renderName(template: NameTemplate, values: NameValues): string {
  const text = template.segments
    .map((segment) => {
      if (typeof segment === 'string') return segment.replaceAll('/', SEPARATOR);
      const value = values[segment.name];
      if (value === undefined || value === null || value === '') return `no-${segment.name}`;
      if (segment.format !== undefined) return formatDate(value, segment.format);
      const plain = value.replaceAll(SEPARATOR, '_');
      return segment.name === 'key' ? plain.replaceAll('/', SEPARATOR) : plain.replaceAll('/', '_');
    })
    .join('');
  const parts = text.split(SEPARATOR).filter((part) => part !== '');
  return parts.length === 0 ? '_' : parts.map(safeFileName).join('/');
}

/** Formats a timestamp in UTC. Returns any other text unchanged. */
function formatDate(value: string, format: string): string {
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) return value;
  const iso = time.toISOString();
  const parts: Readonly<Record<string, string>> = {
    yyyy: iso.slice(0, -20),
    MM: iso.slice(-19, -17),
    dd: iso.slice(-16, -14),
    HH: iso.slice(-13, -11),
    mm: iso.slice(-10, -8),
    ss: iso.slice(-7, -5),
  };
  return format.replace(/yyyy|MM|dd|HH|mm|ss/g, (token) => parts[token] ?? token);
}

export function valuesOfEnvelope(envelope: Envelope, what: string, key: string | undefined): NameValues {
  const metadata = Object.entries(envelope.metadata ?? {}).map(([name, value]): [string, string] => [
    `metadata.${name}`,
    valueText(value),
  ]);
  const fields = [...TEXTS, ...DATES].map((name): [string, NameValues[string]] => [name, envelope[name]]);
  const [first] = envelope.signers ?? [];
  const signer = first?.name || first?.email;
  return { ...Object.fromEntries([...metadata, ...fields]), envelopeId: envelope.id, what, signer, key };
}
