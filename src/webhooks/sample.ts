import { randomBytes } from 'node:crypto';
import { entryOf } from '../kernel/json.ts';
import type { EnvelopeStatus, EventName } from '../kernel/vocabulary.ts';

const STATUS: Readonly<Record<EventName, EnvelopeStatus>> = {
  'envelope.sent': 'SENT',
  'envelope.viewed': 'SENT',
  'envelope.signed': 'IN_PROGRESS',
  'envelope.completed': 'COMPLETED',
  'envelope.declined': 'DECLINED',
  'envelope.expired': 'EXPIRED',
  'envelope.cancelled': 'CANCELLED',
};
const SIGNER_EVENTS = new Set<string>([
  'envelope.viewed',
  'envelope.signed',
  'envelope.declined',
] satisfies EventName[]);

/** The prefixes of envelope IDs made up by a drill or a trigger. */
const SAMPLE_ID_PREFIXES = { drill: 'env_drill_', trigger: 'env_trigger_' } as const;

/** Returns a random envelope ID that doesn't exist in any service. */
export function sampleEnvelopeId(by: keyof typeof SAMPLE_ID_PREFIXES): string {
  return `${SAMPLE_ID_PREFIXES[by]}${randomBytes(8).toString('hex')}`;
}

/** Returns true for an envelope ID made up by a drill or a trigger. */
export function isSampleId(envelopeId: string): boolean {
  return Object.values(SAMPLE_ID_PREFIXES).some((prefix) => envelopeId.startsWith(prefix));
}

/**
 * Returns the content of a payload as the service sends it for the event (API document, Events), with made-up people. `now` is the time
 * of the event, in ms since the epoch.
 */
export function sampleBody(
  event: string,
  { envelopeId = sampleEnvelopeId('trigger'), now }: { envelopeId?: string | undefined; now: number },
) {
  const timestamp = new Date(now).toISOString();
  const signer = {
    id: `signer_${randomBytes(10).toString('hex')}`,
    email: 'ada@example.com',
    name: 'Ada Lovelace',
    ...(event === 'envelope.signed' ? { signedAt: timestamp } : {}),
    ...(event === 'envelope.declined' ? { declineReason: 'The rent is wrong' } : {}),
  };
  const data = {
    envelopeId,
    status: entryOf<string>(STATUS, event) ?? 'SENT',
    ...(SIGNER_EVENTS.has(event) ? { signer } : {}),
  };
  return { event, timestamp, data };
}
