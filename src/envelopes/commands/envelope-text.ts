import type { Envelope, Signer } from '../../api/resource-types.ts';
import { replacedBy } from '../../catalog/markers.ts';
import { whoseTurn } from '../../catalog/turns.ts';
import { renderNextSteps } from '../../cli/next-steps.ts';
import type { CommandTerminal, NextStepsTerminal } from '../../cli/terminal.ts';
import { counted } from '../../kernel/duration.ts';
import { hasDeclined, hasSigned, isInFlight, isTerminal } from '../../kernel/statuses.ts';
import { valueText } from '../../kernel/text/exact-json.ts';
import { mailboxOf, nameOf } from '../../kernel/text/person.ts';
import { writeJson } from '../../output/json.ts';
import { signerMark, statusColor } from '../../output/status-marks.ts';
import { indented, renderPairs, withHangingIndent } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeBlock, safeLine } from '../../output/text.ts';
import { exactTime, relativeTime } from '../../output/time.ts';
import type { SentReminder } from '../sent-reminders.ts';
import { nextSteps } from './envelope-next-steps.ts';
import { endTimeOf, namesOf } from './envelope-table.ts';

/** What this machine or a search knows about an envelope. */
export interface KnownFacts {
  /** The envelope that replaced it. */
  successor?: Envelope | undefined;
  /** The last reminder from this machine. */
  reminder?: SentReminder | undefined;
}

/** Renders an envelope in about ten lines: its status, the signers, the metadata, and the next commands. */
export function renderEnvelope(
  envelope: Envelope,
  terminal: NextStepsTerminal,
  now: number,
  { successor, reminder }: KnownFacts = {},
): string {
  const status = envelope.status ?? 'unknown';
  const color = statusColor(status);
  const title = safeLine(envelope.subject || envelope.templateName || '');
  const shown = color ? terminal.style(color, safeLine(status)) : safeLine(status);
  const head = `${terminal.style('bold', safeLine(envelope.id))}  ${shown}`;
  const parts = [
    `${withHangingIndent(head, title && ` ${title}`, terminal).trimEnd()}\n${paragraphOf(statusText(envelope, now), terminal)}${paragraphOf(reminderText(envelope, reminder, now), terminal)}`,
    renderPairs(replacementPairs(envelope, successor), terminal, '  '),
    signersBlock(envelope, terminal, now),
    section('Metadata', metadata(envelope, false), terminal),
    renderNext(successor ?? envelope, terminal),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

/** Renders what few people need: dates, settings, storage keys, and the metadata that esign added. */
export function renderDetails(envelope: Envelope, terminal: Terminal, now: number): string {
  const parts = [
    section('Details', facts(envelope, now), terminal),
    section('Files', files(envelope), terminal),
    section('Metadata added by esign', metadata(envelope, true), terminal),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

/** The indent of a signer's name, after the mark. */
const SIGNER_INDENT = 4;

function paragraphOf(sentence: string, terminal: Terminal): string {
  return sentence === '' ? '' : `${indented(safeLine(sentence), 0, terminal)}\n`;
}

/** The service doesn't return reminders. */
function reminderText({ signers }: Envelope, reminder: SentReminder | undefined, now: number): string {
  if (reminder === undefined) return '';
  const signer = signers?.find(reminder.names);
  const one = signer === undefined ? 'A signer' : nameOf(signer);
  const whom = reminder.isForAll ? 'Reminded' : `${one} was reminded`;
  return `${whom} from this machine ${relativeTime(new Date(reminder.at).toISOString(), now)}.`;
}

/** Returns the status of an envelope as a sentence; empty for an unknown status. */
export function statusText(envelope: Envelope, now: number): string {
  const { status, signers = [], sentAt, expiresAt, completedAt } = envelope;
  const people = signers ?? [];
  const done = people.filter(hasSigned).length;
  if (status === 'DRAFT') return 'Not sent yet.';
  if (status === 'COMPLETED') return `${everyoneInWords(people)} signed, ${relativeTime(completedAt, now)}.`;
  if (status === 'EXPIRED' || status === 'CANCELLED') return endedText(envelope, now);
  const decliner = people.find(hasDeclined);
  if (decliner)
    return `${nameOf(decliner)} declined${decliner.declineReason ? `: ${decliner.declineReason}` : ''}.`;
  if (!isInFlight(status)) return '';
  const waiting = whoseTurn(envelope).map(nameOf);
  const whom = waiting.length > 0 ? ` for ${namesOf(waiting)}` : '';
  const sent = sentAt ? `, sent ${relativeTime(sentAt, now)}` : '';
  const left = expiresAt ? `, expires ${relativeTime(expiresAt, now)}` : '';
  return `Waiting${whom} (${done} of ${people.length} signed)${sent}${left}.`;
}

function everyoneInWords(people: readonly Signer[]): string {
  if (people.length <= 2) return people.map(nameOf).join(' and ') || 'Everyone';
  return `All ${counted(people.length, 'signer')}`;
}

function endedText(envelope: Envelope, now: number): string {
  const word = envelope.status === 'EXPIRED' ? 'Expired' : 'Canceled';
  const missing = (envelope.signers ?? []).filter((one) => !hasSigned(one)).map(nameOf);
  const when = relativeTime(endTimeOf(envelope), now);
  return `${[word, when].filter(Boolean).join(' ')}${missing.length > 0 ? `; not signed by ${namesOf(missing)}` : ''}.`;
}

function renderNext(envelope: Envelope, terminal: NextStepsTerminal): string {
  const steps = nextSteps(envelope, terminal);
  if (!terminal.outIsTty || steps.length === 0) return '';
  return `${terminal.style('bold', 'Next')}\n${renderNextSteps(steps, terminal)}`;
}

/** Returns the envelope that this one replaces, and the one that replaces it. */
function replacementPairs(envelope: Envelope, successor: Envelope | undefined): [string, string][] {
  const old = replacedBy(envelope);
  const label = isTerminal(envelope.status ?? '') ? 'Replaced by' : 'To be replaced by';
  return [
    ...(old === undefined ? [] : [['Replaces', safeLine(old)] satisfies [string, string]]),
    ...(successor === undefined
      ? []
      : [[label, safeLine(`${successor.id} (${successor.status ?? 'unknown'})`)] satisfies [string, string]]),
  ];
}

function facts(envelope: Envelope, now: number): [string, string][] {
  const times: [string, string | null | undefined][] = [
    ['Created', envelope.createdAt],
    ['Sent', envelope.sentAt],
    ['Completed', envelope.completedAt],
    [envelope.status === 'EXPIRED' ? 'Expired' : 'Expires', expiryOf(envelope)],
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

/** Completed, canceled, and declined envelopes don't expire anymore. */
function expiryOf({ status, expiresAt }: Envelope): string | null | undefined {
  return status === 'EXPIRED' || !isTerminal(status ?? '') ? expiresAt : null;
}

function bothTimes(iso: string, now: number): string {
  return safeLine(`${exactTime(iso)} (${relativeTime(iso, now)})`);
}

function signersBlock(envelope: Envelope, terminal: Terminal, now: number): string {
  const signers = envelope.signers ?? [];
  if (signers.length === 0) return '';
  const done = signers.filter(hasSigned).length;
  const lines = signers.map((one) => {
    const text = indented(signerLine(one, now), SIGNER_INDENT, terminal);
    return `  ${signerMark(one.status)} ${text}\n`;
  });
  return `${terminal.style('bold', 'Signers')}  ${done} of ${signers.length} signed\n${lines.join('')}`;
}

function signerLine(signer: Signer, now: number): string {
  const role = signer.role ? `, ${signer.role}` : '';
  const done = signer.signedAt ?? signer.declinedAt;
  const when = done ? ` ${relativeTime(done, now)}` : '';
  const why = signer.declineReason ? `: ${signer.declineReason}` : '';
  return safeLine(`${mailboxOf(signer)}${role}  ${(signer.status ?? 'unknown').toLowerCase()}${when}${why}`);
}

function files(envelope: Envelope): [string, string][] {
  const keys: [string, string | null | undefined][] = [
    ['document', envelope.documentStorageKey],
    ['signed', envelope.signedDocumentStorageKey],
    ['certificate', envelope.certificateStorageKey],
  ];
  return keys.flatMap(([what, key]): [string, string][] => (key ? [[what, safeLine(key)]] : []));
}

/** Returns the metadata, either the keys that esign added or the others. */
function metadata(envelope: Envelope, isOwn: boolean): [string, string][] {
  return Object.entries(envelope.metadata ?? {})
    .filter(([key]) => key.startsWith('esign') === isOwn)
    .map(([key, value]) => [safeLine(key), safeLine(valueText(value))]);
}

function section(title: string, pairs: [string, string][], terminal: Terminal): string {
  return pairs.length === 0 ? '' : `${terminal.style('bold', title)}\n${renderPairs(pairs, terminal, '  ')}`;
}

/** Renders an action and the envelope's new status on one line. In a pipe: ID and status. */
function renderAction(done: string, envelope: Envelope, terminal: Terminal): string {
  const status = safeLine(envelope.status ?? 'unknown');
  if (!terminal.outIsTty) return `${safeLine(envelope.id)}\t${status}\n`;
  const color = statusColor(status);
  const people = counted(envelope.signers?.length ?? 0, 'signer');
  return `${done} ${safeLine(envelope.id)}: ${color ? terminal.style(color, status) : status}, ${people}\n`;
}

/** Writes an envelope after an action: JSON, or one line. */
export function writeEnvelopeAction(
  done: string,
  envelope: Envelope,
  terminal: CommandTerminal,
): Promise<void> {
  const out = terminal.hidingSecrets();
  return terminal.json ? writeJson(envelope, out) : out.out(renderAction(done, envelope, terminal));
}
