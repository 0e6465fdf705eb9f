import type { Template } from '../../../api/schemas.ts';
import type { Session } from '../../../cli/session.ts';
import type { NewEnvelope } from '../../../envelopes/create.ts';
import { signerText } from '../../../envelopes/signer-mailbox.ts';
import { counted } from '../../../kernel/duration.ts';
import { LINE_GOES_ON, shellWord } from '../../../kernel/text/shell-words.ts';
import type { Terminal } from '../../../output/terminal.ts';
import { inColumns, safeLine, widthOf, wrapped } from '../../../output/text.ts';

export interface Preview {
  envelope: NewEnvelope;
  template: Template | undefined;
  /** Where it is created: the profile's name and the address of the service. */
  account: readonly string[];
  /** What is seldom meant. */
  remarks: readonly string[];
  /** Flags that were given and stay: name and value, or true. */
  options: readonly (readonly [string, string | true])[];
}

/** As wide as the longest label. */
const LABEL = 8;
const MESSAGE_LINES = 5;
/** A longer message would hide the rest of the command. */
const MESSAGE_IN_COMMAND = 200;

/** Where an envelope is created, for the summary. */
export async function accountOf(session: Pick<Session, 'settings'>): Promise<string[]> {
  const { baseUrl, profileName } = await session.settings();
  return [profileName?.value, baseUrl?.value].filter((text) => text !== undefined);
}

/** How it is shown. */
export interface Showing {
  columns: number;
  style: Terminal['style'];
  /** Takes secrets out of each text, before it is broken into lines. */
  redact: (text: string) => string;
}

/** What will be created, part by part, and the command that does the same without a question. */
export function renderComposition(shown: Preview, { columns, style, redact }: Showing): string {
  const preview = withoutSecrets(shown, redact);
  const rows = rowsOf(preview, columns - LABEL - 5);
  const lines = rows.flatMap(([name, texts]) =>
    texts.map((text, index) =>
      `  ${style('dim', (index === 0 ? name : '').padEnd(LABEL))}  ${text}`.trimEnd(),
    ),
  );
  const remarks = preview.remarks.map((text) => `  ${style('yellow', `! ${safeLine(text)}`)}\n`).join('');
  const command = wrapWords(equivalentWords(preview, MESSAGE_IN_COMMAND), columns - 4);
  return `\n${lines.join('\n')}\n${remarks && `\n${remarks}`}\n${style('dim', 'Equivalent command:')}\n${command.map((line) => `  ${line}`).join('\n')}\n\n`;
}

/** What a person typed may hold a secret; ids and numbers hold none. */
function withoutSecrets(preview: Preview, redact: (text: string) => string): Preview {
  const { envelope, account, remarks, options } = preview;
  const { signers, subject, message, metadata, webhookUrl } = envelope;
  const hidden = (text: string | undefined) => (text === undefined ? undefined : redact(text));
  const told = Object.entries(metadata ?? {}).map(([key, value]): [string, string] => [
    redact(key),
    redact(plain(value)),
  ]);
  return {
    ...preview,
    envelope: {
      ...envelope,
      signers: signers.map((one) => ({ ...one, name: redact(one.name), email: redact(one.email) })),
      subject: hidden(subject),
      message: hidden(message),
      metadata: Object.fromEntries(told),
      webhookUrl: hidden(webhookUrl),
    },
    account: account.map(redact),
    remarks: remarks.map(redact),
    options: options.map(([name, value]) => [name, value === true ? value : redact(value)]),
  };
}

/** Labels, each with its lines. */
function rowsOf({ envelope, template, account }: Preview, columns: number): [string, string[]][] {
  const { signers, signingOrder, subject, message, metadata, webhookUrl, expiresInDays } = envelope;
  const room = Math.max(20, columns);
  const order = signingOrder === 'SEQUENTIAL' ? 'one after the other' : 'everyone at the same time';
  const text = (value: string | undefined) => (value ? wrapped(safeLine(value), room) : []);
  const rows: [string, string[]][] = [
    ['Template', text(templateLine(template))],
    [signers.length === 1 ? 'Signer' : 'Signers', signerLines(envelope, room)],
    ['Order', signers.length > 1 && signingOrder ? [order] : []],
    ['Subject', text(subject)],
    ['Message', message ? messageLines(message, room) : []],
    ['Expires', expiresInDays === undefined ? [] : [`in ${counted(expiresInDays, 'day')}`]],
    ['Metadata', Object.entries(metadata ?? {}).flatMap(([key, value]) => text(`${key}: ${plain(value)}`))],
    ['Webhooks', text(webhookUrl)],
    ['Account', text(account.join(', '))],
  ];
  return rows.filter(([, texts]) => texts.length > 0);
}

function templateLine(template: Template | undefined): string {
  if (template === undefined) return '';
  const pages = template.pageCount ? `, ${counted(template.pageCount, 'page')}` : '';
  return `${template.name || template.id} (${template.id})${pages}`;
}

/** Address under address, role under role; each signer in lines of their own where that is too wide. */
function signerLines({ signers, signingOrder }: NewEnvelope, room: number): string[] {
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

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

type Equivalent = Pick<Preview, 'envelope' | 'options'>;

/** The command that creates this envelope without a question, on one line. */
export function equivalentCommand(wanted: Equivalent): string {
  return equivalentWords(wanted).join(' ');
}

/** The words of the command, an option and its value together. */
function equivalentWords({ envelope, options }: Equivalent, longest = Number.POSITIVE_INFINITY): string[] {
  const { templateId, signers, subject, message, signingOrder } = envelope;
  const option = (name: string, value: string | undefined) =>
    value === undefined ? [] : [`--${name} ${shellWord(value)}`];
  const isLong = (message?.length ?? 0) > longest;
  return [
    'esign envelopes create',
    ...option('template', templateId),
    ...signers.flatMap((signer) => option('signer', signerText(signer))),
    ...option('signing-order', signingOrder?.toLowerCase()),
    ...option('subject', subject),
    ...(isLong ? ['--message-file FILE'] : option('message', message)),
    ...options.flatMap(([name, value]) => (value === true ? [`--${name}`] : option(name, value))),
  ];
}

/** Words in lines that fit, each but the last ending as a shell goes on in the next line. */
function wrapWords(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line !== undefined && widthOf(line) + widthOf(word) + 3 <= width)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(line === undefined ? word : `  ${word}`);
  }
  return lines.map((line, index) => (index < lines.length - 1 ? `${line} ${LINE_GOES_ON}` : line));
}
