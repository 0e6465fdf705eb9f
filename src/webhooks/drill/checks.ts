import { randomBytes } from 'node:crypto';
import { EVENTS, SIGNATURE_HEADER } from '../../kernel/vocabulary.ts';
import { sign } from '../receive/signature.ts';
import { sampleBody, sampleEnvelopeId } from '../sample.ts';

export interface DrillRequest {
  /** Distinguishes the requests of a check. Empty if there is only one. */
  label: string;
  raw: Buffer;
  headers: [string, string][];
}

/** Requests for a receiver, and the expected response. */
export interface DrillCheck {
  name: string;
  /** The expected response to each request: 2xx (accepted), 4xx (refused), or either. */
  expects: 'accepted' | 'refused' | 'either';
  /** How to fix a receiver that responds differently. */
  advice: string;
  requests: DrillRequest[];
  /** Whether to send the requests one after another instead of at the same time. */
  inOrder?: boolean;
  /** Whether to send the first body in pieces, with the second request at the same time. */
  isSlow?: boolean;
}

export interface DrillOptions {
  secret: string;
  events: readonly string[];
  /** ms since the epoch */
  now: number;
}

/** The same limit as in `listen`. */
const MAX_BYTES = 1024 * 1024;
const MINUTE_MS = 60_000;

/** Returns all checks in the order in which they run. The envelopes and people in them are made up. */
export function drillChecks({ secret, events, now }: DrillOptions): DrillCheck[] {
  const [first = 'envelope.signed'] = events;
  const body = (event = first) => sampleBody(event, { envelopeId: sampleEnvelopeId('drill'), now });
  const signed = (raw: Buffer, label = '') => requestOf(raw, sign(raw, secret), label);
  const good = events.map((event) => signed(bytes(body(event)), event));
  const original = body();
  const raw = bytes(original);
  const signature = sign(raw, secret);
  const changed = { ...original, data: { ...original.data, status: `${original.data.status}_CHANGED` } };
  const renamed = { ...original, event: EVENTS.find((one) => one !== first) };
  const { event: type, timestamp: createdAt, data } = body();
  const otherShape = { id: `evt_${randomBytes(10).toString('hex')}`, type, createdAt, data };
  const extended = body();
  return [
    { name: 'good', expects: 'accepted', requests: good, advice: 'respond to a valid delivery with 200' },
    {
      name: 'repeated',
      expects: 'accepted',
      requests: good.slice(0, 1).map((one) => ({ ...one, label: '' })),
      advice: 'a delivery can be repeated: respond with 200, and process it only once',
    },
    {
      name: 'out-of-order',
      expects: 'accepted',
      requests: outOfOrder(events, now).map((one) => signed(bytes(one), one.event)),
      inOrder: true,
      advice:
        'events can arrive out of order: respond with 200, and read the envelope from the API if the order matters',
    },
    {
      name: 'wrong-signature',
      expects: 'refused',
      requests: [requestOf(raw, sign(raw, randomBytes(24).toString('hex')))],
      advice: 'it was signed with a different secret: compare the signature, and respond with 401',
    },
    {
      name: 'missing-signature',
      expects: 'refused',
      requests: [requestOf(raw)],
      advice: 'treat a missing signature as invalid: respond with 401',
    },
    {
      name: 'short-signature',
      expects: 'refused',
      requests: [
        requestOf(raw, signature.slice(0, 32), 'first half only'),
        requestOf(raw, 'not a signature', 'not hex'),
      ],
      advice: 'check the length, compare all 64 digits, and respond with 401',
    },
    {
      name: 'upper-case-signature',
      expects: 'either',
      requests: [requestOf(raw, signature.toUpperCase())],
      advice: 'respond with 200 or 401',
    },
    {
      name: 'changed-bytes',
      expects: 'refused',
      requests: [
        requestOf(bytes(changed), signature, 'status changed'),
        requestOf(bytes(renamed), signature, 'event changed'),
        requestOf(Buffer.from(JSON.stringify(original, null, 2)), signature, 'spaces added'),
      ],
      advice: 'verify the signature against the raw bytes of the body before you parse it',
    },
    {
      name: 'raw-bytes',
      expects: 'accepted',
      requests: [signed(Buffer.from(reformatted(body())))],
      advice:
        'the signature is valid, but JSON.stringify would write different bytes: verify it over the raw bytes',
    },
    {
      name: 'unknown-event',
      expects: 'accepted',
      requests: [signed(bytes({ ...body(), event: 'envelope.drilled' }))],
      advice: 'the service may add events: respond to unknown events with 200',
    },
    {
      name: 'extra-fields',
      expects: 'accepted',
      requests: [
        signed(
          bytes({ ...extended, apiVersion: '2030-01', data: { ...extended.data, esignDrill: { a: [1] } } }),
        ),
      ],
      advice: 'the service may add fields: ignore unknown fields',
    },
    {
      name: 'payload-shape',
      expects: 'accepted',
      requests: [signed(bytes(otherShape))],
      advice: 'read {id, type, createdAt, data} as well as {event, timestamp, data}',
    },
    {
      name: 'large',
      expects: 'accepted',
      // Trailing spaces change only the size of the JSON.
      requests: [signed(Buffer.from(JSON.stringify(body()).padEnd(MAX_BYTES)))],
      advice: 'accept bodies of up to 1 MiB',
    },
    {
      name: 'slow',
      expects: 'accepted',
      requests: [signed(bytes(body())), signed(bytes(body()))],
      isSlow: true,
      advice: 'the body took 1 s to arrive: allow at least 10 s',
    },
  ];
}

/** Returns events of one envelope, newest first. */
function outOfOrder(events: readonly string[], now: number): ReturnType<typeof sampleBody>[] {
  const names = events.length > 1 ? events.slice(0, 4) : [...events, ...events];
  const envelopeId = sampleEnvelopeId('drill');
  return names
    .map((event, at) => sampleBody(event, { envelopeId, now: now - (names.length - at) * MINUTE_MS }))
    .reverse();
}

function bytes(body: object): Buffer {
  return Buffer.from(JSON.stringify(body));
}

/** Returns equivalent JSON with different whitespace and an escaped letter. */
function reformatted(body: object): string {
  return ` ${JSON.stringify(body, null, 1).replace('Ada', '\\u0041da').replace('"env_', '"\\u0065nv_')}\n`;
}

function requestOf(raw: Buffer, signature?: string, label = ''): DrillRequest {
  const headers: [string, string][] = [['Content-Type', 'application/json']];
  if (signature !== undefined) headers.push([SIGNATURE_HEADER, signature]);
  return { label, raw, headers };
}
