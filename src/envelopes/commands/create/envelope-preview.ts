import type { Template } from '../../../api/resource-types.ts';
import type { CommandTerminal } from '../../../cli/terminal.ts';
import { counted } from '../../../kernel/duration.ts';
import type { EnvelopeInput } from '../../../once/create-body.ts';
import type { Terminal } from '../../../output/terminal.ts';
import { inColumns, safeLine, widthOf, wrapped } from '../../../output/text.ts';

/** An envelope before it is created. */
export interface EnvelopePreview {
  envelope: EnvelopeInput;
  template: Template | undefined;
  /** The profile and the host, or the sandbox. */
  account: string;
  warnings: readonly string[];
}

const LABEL = 8;
const MESSAGE_LINES = 5;

/** Renders the envelope to create. Secrets in typed texts are removed. */
export function renderPreview(
  { envelope, ...more }: EnvelopePreview,
  { columns, style, redact }: { columns: number; style: Terminal['style']; redact: (text: string) => string },
): string {
  // Each text is redacted before it is broken into lines.
  const signers = envelope.signers.map((one) => ({
    ...one,
    name: redact(one.name),
    email: redact(one.email),
  }));
  const preview = { ...more, envelope: { ...envelope, signers } };
  const rows = rowsOf(preview, columns - LABEL - 5, redact);
  const lines = rows.flatMap(([name, texts]) =>
    texts.map((text, index) =>
      `  ${style('dim', (index === 0 ? name : '').padEnd(LABEL))}  ${text}`.trimEnd(),
    ),
  );
  const warnings = preview.warnings
    .map((text) => `  ${style('yellow', `! ${safeLine(redact(text))}`)}\n`)
    .join('');
  return `\n${lines.join('\n')}\n${warnings && `\n${warnings}`}\n`;
}

/** On a terminal, a dry run shows the envelope instead of the request. */
export function renderDryRun(
  preview: Omit<EnvelopePreview, 'warnings'>,
  { columns, style, redactor }: CommandTerminal,
): string {
  const redact = (text: string) => redactor.redact(text);
  return `${renderPreview({ ...preview, warnings: [] }, { columns, style, redact })}Nothing was created.\n`;
}

function rowsOf(
  { envelope, template, account }: EnvelopePreview,
  columns: number,
  redact: (text: string) => string,
): [string, string[]][] {
  const { signers, signingOrder, subject, message, metadata, webhookUrl, expiresInDays } = envelope;
  const room = Math.max(20, columns);
  const order = signingOrder === 'SEQUENTIAL' ? 'one after the other' : 'everyone at the same time';
  const text = (value: string | undefined) => (value ? wrapped(safeLine(value), room) : []);
  const typed = (value: string | undefined) => value && redact(value);
  const rows: [string, string[]][] = [
    ['Template', text(templateLine(template))],
    [signers.length === 1 ? 'Signer' : 'Signers', signerLines(envelope, room)],
    ['Order', signers.length > 1 && signingOrder ? [order] : []],
    ['Subject', text(typed(subject))],
    ['Message', message ? messageLines(redact(message), room) : []],
    ['Expires', expiresInDays === undefined ? [] : [`in ${counted(expiresInDays, 'day')}`]],
    [
      'Metadata',
      Object.entries(metadata ?? {}).flatMap(([key, value]) =>
        text(`${redact(key)}: ${redact(textOf(value))}`),
      ),
    ],
    ['Webhooks', text(typed(webhookUrl))],
    ['Account', text(redact(account))],
  ];
  return rows.filter(([, texts]) => texts.length > 0);
}

function templateLine(template: Template | undefined): string {
  if (template === undefined) return '';
  const pages = template.pageCount ? `, ${counted(template.pageCount, 'page')}` : '';
  return `${template.name || template.id} (${template.id})${pages}`;
}

/** Aligns addresses and roles in columns; wraps each signer if that is too wide. */
function signerLines({ signers, signingOrder }: EnvelopeInput, room: number): string[] {
  const hasTurns = signingOrder === 'SEQUENTIAL' && signers.length > 1;
  const turnOf = (order: number | undefined) => (hasTurns ? (order ?? 0) : 0);
  const cells = [...signers]
    .sort((a, b) => turnOf(a.order) - turnOf(b.order))
    .map(({ name, email, role = '', order }) => [
      hasTurns ? `${order ?? ''}.` : '',
      name === email ? '' : safeLine(name),
      safeLine(email),
      safeLine(role),
    ]);
  const lines = inColumns(cells);
  if (lines.every((line) => widthOf(line) <= room)) return lines;
  return cells.flatMap((row) => wrapped(row.filter((text) => text !== '').join('  '), room));
}

function messageLines(message: string, room: number): string[] {
  const lines = message.split(/\r\n|\n/).flatMap((line) => wrapped(safeLine(line), room));
  if (lines.length <= MESSAGE_LINES) return lines;
  return [
    ...lines.slice(0, MESSAGE_LINES - 1),
    `… ${counted(lines.length - MESSAGE_LINES + 1, 'more line')}`,
  ];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
