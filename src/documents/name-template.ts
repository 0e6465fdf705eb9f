import type { Envelope } from '../api/schemas.ts';
import { UsageError } from '../kernel/errors.ts';
import type { Paper } from '../kernel/vocabulary.ts';
import { safeFileName } from './papers.ts';

const DATES = ['createdAt', 'sentAt', 'completedAt', 'expiresAt'] as const;
const TEXTS = ['envelopeId', 'what', 'templateName', 'templateId', 'subject', 'status'] as const;
const PLACE = /\{([A-Za-z]+)(?:\.([^{}:]+))?(?::([^{}]+))?\}/g;

/**
 * Checks a template of file names such as `{completedAt:yyyy-MM}/{templateName}/{envelopeId}.{what}.pdf`.
 * @throws UsageError that names the part that is wrong.
 */
export function checkNameTemplate(template: string): void {
  for (const [place, name = '', key] of template.matchAll(PLACE)) {
    const isKnown =
      [...DATES, ...TEXTS].some((one) => one === name) || (name === 'metadata' && key !== undefined);
    if (!isKnown)
      throw new UsageError(`The name template has ${place}, which is unknown.`, {
        hint: `There are ${[...TEXTS, ...DATES.map((one) => `${one}:yyyy-MM-dd`), 'metadata.KEY'].map((one) => `{${one}}`).join(', ')}.`,
      });
  }
  if (/[{}]/.test(template.replaceAll(PLACE, '')))
    throw new UsageError('The name template has a brace that is not closed or not opened.');
  if (!template.includes('{envelopeId}') || !template.includes('{what}'))
    throw new UsageError(
      'The name template needs {envelopeId} and {what}, else two files would get one name.',
    );
}

/** The path of an envelope's file by the template: its slashes make folders, and nothing else does. */
export function fileNameFrom(template: string, envelope: Envelope, what: Paper): string {
  const parts = template
    .split('/')
    .map((part) =>
      part.replaceAll(PLACE, (_, name: string, key: string | undefined, format: string | undefined) =>
        textFor(envelope, what, name, key, format),
      ),
    );
  return parts.map(safeFileName).join('/');
}

function textFor(
  envelope: Envelope,
  what: Paper,
  name: string,
  key: string | undefined,
  format: string | undefined,
): string {
  if (name === 'what') return what;
  if (name === 'envelopeId') return envelope.id;
  const value: unknown = name === 'metadata' ? envelope.metadata?.[key ?? ''] : envelope[name];
  if (value === undefined || value === null || value === '') return `no-${name}`;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return DATES.some((one) => one === name) ? dateOf(text, format ?? 'yyyy-MM-dd') : text;
}

function dateOf(iso: string, format: string): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return iso;
  const [date = '', time = ''] = new Date(at).toISOString().split('T');
  const [yyyy = '', MM = '', dd = ''] = date.split('-');
  const [HH = '', mm = '', ss = ''] = time.slice(0, 8).split(':');
  const parts: Readonly<Record<string, string>> = { yyyy, MM, dd, HH, mm, ss };
  return format.replaceAll(/yyyy|MM|dd|HH|mm|ss/g, (token) => parts[token] ?? token);
}
