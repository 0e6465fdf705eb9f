import type { Envelope, Signer } from '../../api/schemas.ts';
import { counted } from '../../kernel/duration.ts';
import { writeJson } from '../../output/json.ts';
import type { ListView } from '../../output/list.ts';
import { signerMark, statusColour } from '../../output/status.ts';
import { behind, type Column, indented, renderPairs } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeBlock, safeLine } from '../../output/text.ts';
import { exactTime, relativeTime } from '../../output/time.ts';

/** The list of envelopes: stable columns for pipes, relative times for people. */
export function envelopeList(now: number): ListView<Envelope> {
  const time = (key: 'createdAt' | 'expiresAt', header: string): Column<Envelope> => ({
    key,
    header,
    value: (one) => one[key] ?? '',
    show: (one) => relativeTime(one[key], now),
    fixed: true,
  });
  return {
    id: (one) => one.id,
    empty: 'No envelopes fit. Create one: `esign envelopes create --template ID --signer a@b.c`.',
    columns: [
      { key: 'id', header: 'ID', value: (one) => one.id, fixed: true },
      {
        key: 'status',
        header: 'STATUS',
        value: (one) => one.status ?? '',
        colour: (one) => statusColour(one.status),
        fixed: true,
      },
      { key: 'templateName', header: 'TEMPLATE', value: (one) => one.templateName ?? one.templateId ?? '' },
      { key: 'signers', header: 'SIGNERS', value: signersExact, show: signersShort },
      time('createdAt', 'CREATED'),
      time('expiresAt', 'EXPIRES'),
    ],
  };
}

function signersExact(envelope: Envelope): string {
  return (envelope.signers ?? []).map((one) => one.email ?? '').join(',');
}

function signersShort(envelope: Envelope): string {
  const signers = envelope.signers ?? [];
  if (signers.length === 0) return '';
  const signed = signers.filter((one) => one.status === 'SIGNED').length;
  const first = signers[0]?.name || signers[0]?.email || '';
  return `${signed}/${signers.length} ${first}${signers.length > 1 ? ` +${signers.length - 1}` : ''}`;
}

/** One envelope in words: where it stands, who did what, which files there are. */
export function renderEnvelope(envelope: Envelope, terminal: Terminal, now: number): string {
  const status = envelope.status ?? 'unknown';
  const colour = statusColour(status);
  const title = safeLine(envelope.subject || envelope.templateName || '');
  const shown = colour ? terminal.style(colour, safeLine(status)) : safeLine(status);
  const head = `${terminal.style('bold', safeLine(envelope.id))}  ${shown}`;
  const parts = [
    `${behind(head, title && ` ${title}`, terminal).trimEnd()}\n${standingLine(envelope, terminal, now)}`,
    renderPairs(facts(envelope, now), terminal, '  '),
    signersBlock(envelope, terminal, now),
    section('Files', files(envelope), terminal),
    section('Metadata', metadata(envelope), terminal),
    nextSteps(envelope, terminal),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

/** Of a signer's name: after the mark. */
const SIGNER_INDENT = 4;

/** Where it stands, in a sentence. */
function standingLine(envelope: Envelope, terminal: Terminal, now: number): string {
  const sentence = standing(envelope, now);
  return sentence === '' ? '' : `${indented(safeLine(sentence), 0, terminal)}\n`;
}

function standing(envelope: Envelope, now: number): string {
  const { status, signers = [], sentAt, expiresAt, completedAt } = envelope;
  const people = signers ?? [];
  const done = people.filter((one) => one.status === 'SIGNED').length;
  if (status === 'DRAFT') return 'Not sent yet.';
  if (status === 'COMPLETED')
    return `${people.length === 1 ? people.map(nameOf).join('') : `All ${counted(people.length, 'signer')}`} signed, ${relativeTime(completedAt, now)}.`;
  const decliner = people.find((one) => one.status === 'DECLINED');
  if (decliner)
    return `${nameOf(decliner)} declined${decliner.declineReason ? `: ${decliner.declineReason}` : ''}.`;
  if (status !== 'SENT' && status !== 'IN_PROGRESS') return '';
  const waiting = people.filter((one) => one.status !== 'SIGNED').map(nameOf);
  const whom =
    waiting.length > 0
      ? ` for ${waiting.slice(0, 2).join(' and ')}${waiting.length > 2 ? ` and ${waiting.length - 2} more` : ''}`
      : '';
  const mailed = sentAt ? `, sent ${relativeTime(sentAt, now)}` : '';
  const left = expiresAt ? `, expires ${relativeTime(expiresAt, now)}` : '';
  return `Waiting${whom} (${done} of ${people.length} signed)${mailed}${left}.`;
}

function nameOf(signer: Signer): string {
  return signer.name ?? signer.email ?? 'a signer';
}

const NEXT: Readonly<Record<string, readonly string[]>> = {
  DRAFT: ['send', 'cancel'],
  SENT: ['remind', 'watch', 'cancel'],
  IN_PROGRESS: ['remind', 'watch', 'cancel'],
  COMPLETED: ['download'],
};

/** The commands that make sense now. */
function nextSteps(envelope: Envelope, terminal: Terminal): string {
  const commands = NEXT[envelope.status ?? ''] ?? [];
  if (!terminal.outIsTty || commands.length === 0) return '';
  return `${commands.map((one) => terminal.style('dim', `esign envelopes ${one} ${safeLine(envelope.id)}`)).join('\n')}\n`;
}

function facts(envelope: Envelope, now: number): [string, string][] {
  const times: [string, string | null | undefined][] = [
    ['Created', envelope.createdAt],
    ['Sent', envelope.sentAt],
    ['Completed', envelope.completedAt],
    ['Expires', envelope.expiresAt],
  ];
  const pairs: [string, string][] = [
    [
      'Template',
      safeLine(
        [envelope.templateName, envelope.templateId && `(${envelope.templateId})`].filter(Boolean).join(' '),
      ),
    ],
    ['Order', safeLine(envelope.signingOrder?.toLowerCase() ?? '')],
    ...times.map(([label, iso]): [string, string] => [label, iso ? bothTimes(iso, now) : '']),
    ['Message', safeBlock(envelope.message ?? '').replaceAll('\n', ' ')],
    ['Webhooks', safeLine(envelope.webhookUrl ?? '')],
  ];
  return pairs.filter(([, text]) => text !== '');
}

function bothTimes(iso: string, now: number): string {
  return safeLine(`${exactTime(iso)} (${relativeTime(iso, now)})`);
}

function signersBlock(envelope: Envelope, terminal: Terminal, now: number): string {
  const signers = envelope.signers ?? [];
  if (signers.length === 0) return '';
  const done = signers.filter((one) => one.status === 'SIGNED').length;
  const lines = signers.map((one) => {
    const text = indented(signerLine(one, now), SIGNER_INDENT, terminal);
    return `  ${signerMark(one.status)} ${text}\n`;
  });
  return `${terminal.style('bold', 'Signers')}  ${done} of ${signers.length} signed\n${lines.join('')}`;
}

function signerLine(signer: Signer, now: number): string {
  const who =
    signer.name && signer.name !== signer.email
      ? `${signer.name} <${signer.email ?? ''}>`
      : (signer.email ?? '');
  const role = signer.role ? `, ${signer.role}` : '';
  const done = signer.signedAt ?? signer.declinedAt;
  const when = done ? ` ${relativeTime(done, now)}` : '';
  const why = signer.declineReason ? `: ${signer.declineReason}` : '';
  return safeLine(`${who}${role}  ${(signer.status ?? 'unknown').toLowerCase()}${when}${why}`);
}

function files(envelope: Envelope): [string, string][] {
  const keys: [string, string | null | undefined][] = [
    ['document', envelope.documentStorageKey],
    ['signed', envelope.signedDocumentStorageKey],
    ['certificate', envelope.certificateStorageKey],
  ];
  return keys.flatMap(([what, key]): [string, string][] => (key ? [[what, safeLine(key)]] : []));
}

function metadata(envelope: Envelope): [string, string][] {
  return Object.entries(envelope.metadata ?? {}).map(([key, value]) => [
    safeLine(key),
    safeLine(typeof value === 'string' ? value : JSON.stringify(value)),
  ]);
}

function section(title: string, pairs: [string, string][], terminal: Terminal): string {
  return pairs.length === 0 ? '' : `${terminal.style('bold', title)}\n${renderPairs(pairs, terminal, '  ')}`;
}

/** One line: what was done to an envelope and where it stands now. In a pipe: id and status. */
export function renderAction(done: string, envelope: Envelope, terminal: Terminal): string {
  const status = safeLine(envelope.status ?? 'unknown');
  if (!terminal.outIsTty) return `${safeLine(envelope.id)}\t${status}\n`;
  const colour = statusColour(status);
  const people = counted(envelope.signers?.length ?? 0, 'signer');
  return `${done} ${safeLine(envelope.id)}: ${colour ? terminal.style(colour, status) : status}, ${people}\n`;
}

/** An envelope after something was done to it: JSON, or one line. */
export function writeEnvelopeAction(
  done: string,
  envelope: Envelope,
  context: { json: boolean; terminal: Terminal },
): Promise<void> {
  const { json, terminal } = context;
  return json ? writeJson(envelope, terminal) : terminal.out(renderAction(done, envelope, terminal));
}
