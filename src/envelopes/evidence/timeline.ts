import type { Envelope } from '../../api/resource-types.ts';
import type { LogEntry } from '../../log/shown-entry.ts';
import type { EvidenceReminder, EvidenceWebhook } from './sources.ts';

/** An event of the envelope and its source. */
export interface TimelineEntry {
  at: string;
  what: string;
  who: string | null;
  /** The source: the envelope from the service, a webhook received here, or an action on this machine. */
  source: 'service' | 'webhook' | 'here';
  /** For a webhook, whether its signature was valid. */
  verified: boolean | null;
}

/** The parts of a webhook that the timeline needs. */
type ReceivedEvent = Pick<
  EvidenceWebhook,
  'receivedAt' | 'happenedAt' | 'event' | 'signer' | 'verified' | 'duplicate'
>;

/** The parts of a log entry that the timeline needs. Only a cancel has a reason. */
type LoggedReason = Pick<LogEntry, 'at' | 'outcome' | 'reason'>;

/** Returns the events of the envelope in order of time. A webhook is sorted by the time of its event. */
export function timelineOf(
  envelope: Envelope,
  webhooks: readonly ReceivedEvent[],
  reminders: readonly EvidenceReminder[],
  writes: readonly LoggedReason[] = [],
): TimelineEntry[] {
  const moments = [
    ...changesOf(envelope),
    ...webhooks.filter(({ duplicate }) => !duplicate).map(momentOf),
    ...reminders.map(({ at, signer }): TimelineEntry => {
      return { at, what: 'reminder requested', who: signer ?? "everyone who hadn't signed", ...THIS_MACHINE };
    }),
    // The service returns neither when nor why an envelope was canceled.
    ...writes.flatMap(({ at, outcome, reason }): TimelineEntry[] =>
      reason && outcome !== 'refused'
        ? [{ at, what: `canceled: ${reason}`, who: null, ...THIS_MACHINE }]
        : [],
    ),
  ];
  return moments.sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || stepOf(a) - stepOf(b));
}

/** The steps of an envelope. They order events at the same time. */
const STEPS = ['created', 'sent', 'viewed', 'signed', 'completed'];

function stepOf({ what }: TimelineEntry): number {
  const step = STEPS.indexOf(what);
  return step < 0 ? STEPS.length : step;
}

const SERVICE = { source: 'service', verified: null } as const;
const THIS_MACHINE = { source: 'here', verified: null } as const;

function changesOf(envelope: Envelope): TimelineEntry[] {
  const { createdAt, sentAt, completedAt, expiresAt, status, signers } = envelope;
  const moves: TimelineEntry[] = [];
  const add = (at: string | null | undefined, what: string, who: string | null = null) => {
    if (at && !Number.isNaN(Date.parse(at))) moves.push({ at, what, who, ...SERVICE });
  };
  add(createdAt, 'created');
  add(sentAt, 'sent');
  for (const { email, name, signedAt, declinedAt, declineReason } of signers ?? []) {
    const who = email ?? name ?? null;
    add(signedAt, 'signed', who);
    add(declinedAt, declineReason ? `declined: ${declineReason}` : 'declined', who);
  }
  add(completedAt, 'completed');
  if (status === 'EXPIRED') add(expiresAt, 'expired');
  return moves;
}

function momentOf({ receivedAt, happenedAt, event, signer, verified }: ReceivedEvent): TimelineEntry {
  const at = happenedAt !== null && !Number.isNaN(Date.parse(happenedAt)) ? happenedAt : receivedAt;
  // Both sources use the same names here: the service uses `envelope.signed` in a webhook, but `signed` in the envelope.
  const what = event?.replace(/^envelope\./, '') ?? 'unnamed event';
  return { at, what, who: signer, source: 'webhook', verified };
}
