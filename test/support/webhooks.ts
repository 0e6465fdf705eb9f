import { request } from 'undici';
import { systemClock } from '../../src/kernel/clock.ts';
import type { EventRecord } from '../../src/webhooks/journal/record.ts';
import { type Receiver, type ReceiverOptions, startReceiver } from '../../src/webhooks/receive/receiver.ts';
import { sign } from '../../src/webhooks/receive/signature.ts';

/** Posts exactly these bytes, as a service does; returns the response. */
export async function post(
  url: unknown,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const reply = await request(String(url), { method: 'POST', body: Buffer.from(body), headers });
  await reply.body.dump();
  return reply.statusCode;
}

/** The header of a valid signature. */
export function signed(body: string | Buffer, secret: string): Record<string, string> {
  return { 'X-Service-Signature': sign(Buffer.from(body), secret) };
}

/** Starts a receiver that verifies signatures with one secret. */
export function startTestReceiver(
  secret: string,
  on: Pick<ReceiverOptions, 'onDelivery' | 'onFailure'> & Partial<ReceiverOptions>,
): Promise<Receiver> {
  return startReceiver({
    host: '127.0.0.1',
    port: 0,
    path: '/webhooks',
    secretsFor: () => Promise.resolve([secret]),
    verify: true,
    clock: systemClock,
    onElsewhere: () => undefined,
    onUnread: () => undefined,
    onCrowded: () => undefined,
    onUnreadable: () => undefined,
    ...on,
  });
}

/** A payload as the service sends it. */
export function payload(
  envelopeId: string,
  event = 'envelope.sent',
  more: Record<string, unknown> = {},
): string {
  return JSON.stringify({ event, timestamp: '2026-01-02T03:04:05Z', data: { envelopeId, ...more } });
}

/** JSON with this nesting depth. */
export function nested(levels: number, envelopeId = 'env_deep'): string {
  const deep = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  return `{"event":"envelope.sent","data":{"envelopeId":"${envelopeId}","deep":${deep}}}`;
}

/** An accepted delivery in the journal. */
export function recordOf(deliveryId: string, more: Partial<EventRecord> = {}): EventRecord {
  return {
    ...{ deliveryId, id: `evt_${deliveryId}`, receivedAt: new Date().toISOString() },
    ...{ event: 'envelope.sent', envelopeId: null, status: null, signer: null },
    ...{ verified: true, duplicate: false, reason: null, answer: 200, headers: [], bodyBase64: '', bytes: 0 },
    ...more,
  };
}
