import { randomBytes } from 'node:crypto';
import { ownValue } from '../kernel/json.ts';
import type { DocumentedStatus } from '../kernel/statuses.ts';
import type { EventName } from '../kernel/vocabulary.ts';

const STATUS: Readonly<Record<EventName, DocumentedStatus>> = {
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

/** Returns a random envelope ID that doesn't exist in any service. */
export function sampleEnvelopeId(by: 'drill' | 'trigger'): string {
  return `env_${by}_${randomBytes(8).toString('hex')}`;
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
    status: ownValue<string>(STATUS, event) ?? 'SENT',
    ...(SIGNER_EVENTS.has(event) ? { signer } : {}),
  };
  return { event, timestamp, data };
}
