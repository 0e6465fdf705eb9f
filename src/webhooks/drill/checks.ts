import { randomBytes } from 'node:crypto';
import { EVENTS, SIGNATURE_HEADER } from '../../kernel/vocabulary.ts';
import { sign } from '../receive/signature.ts';
import { madeUpId, sampleBody } from '../sample.ts';

/** One request of a check. */
export interface DrillRequest {
  /** Tells it from the others of its check; empty where it is the only one. */
  label: string;
  raw: Buffer;
  headers: [string, string][];
}

/** What is sent to a receiver, and what it must do with it. */
export interface Check {
  name: string;
  /** Each request is to be taken (2xx), or refused (4xx); `either` is lenient. */
  wants: 'taken' | 'refused' | 'either';
  /** What to mend where it does not. */
  advice: string;
  requests: DrillRequest[];
  /** They are sent one after the other, not at once. */
  inOrder?: boolean;
  /** The body comes in pieces, with a good delivery beside it. */
  isSlow?: boolean;
}

export interface DrillOptions {
  secret: string;
  events: readonly string[];
  /** ms since the epoch */
  now: number;
}

/** What a receiver must take: as large as `listen` takes. */
const LARGEST_BYTES = 1024 * 1024;
const MINUTE_MS = 60_000;

/** Everything that a receiver must stand, in the order in which it is sent. Envelopes and people in it are made up. */
export function drillChecks({ secret, events, now }: DrillOptions): Check[] {
  const [first = 'envelope.signed'] = events;
  const body = (event = first, envelopeId = madeUpId('drill'), at = now) =>
    sampleBody(event, { envelopeId, now: at });
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
    { name: 'good', wants: 'taken', requests: good, advice: 'answer a good delivery 200' },
    {
      name: 'repeated',
      wants: 'taken',
      requests: good.slice(0, 1).map((one) => ({ ...one, label: '' })),
      advice: 'a delivery may come again: answer 200, and do nothing twice',
    },
    {
      name: 'out-of-order',
      wants: 'taken',
      requests: outOfOrder(events, now).map((one) => signed(bytes(one), one.event)),
      inOrder: true,
      advice: 'events overtake one another: answer 200, and ask the API where the order counts',
    },
    {
      name: 'wrong-signature',
      wants: 'refused',
      requests: [requestOf(raw, sign(raw, randomBytes(24).toString('hex')))],
      advice: 'it was signed with another secret: compare the signature, and answer 401',
    },
    {
      name: 'missing-signature',
      wants: 'refused',
      requests: [requestOf(raw)],
      advice: 'a missing signature is a wrong one: answer 401',
    },
    {
      name: 'short-signature',
      wants: 'refused',
      requests: [
        requestOf(raw, signature.slice(0, 32), 'the first half of it'),
        requestOf(raw, 'nothing of the kind', 'not hex'),
      ],
      advice: 'compare all 64 digits, check the length first, and answer 401',
    },
    {
      name: 'upper-case-signature',
      wants: 'either',
      requests: [requestOf(raw, signature.toUpperCase())],
      advice: 'answer it 200 or 401',
    },
    {
      name: 'changed-bytes',
      wants: 'refused',
      requests: [
        requestOf(bytes(changed), signature, 'another status'),
        requestOf(bytes(renamed), signature, 'another event'),
        requestOf(Buffer.from(JSON.stringify(original, null, 2)), signature, 'blanks added'),
      ],
      advice: 'check the signature over the raw bytes, all of them, before you parse them',
    },
    {
      name: 'raw-bytes',
      wants: 'taken',
      requests: [signed(Buffer.from(writtenOtherwise(body())))],
      advice:
        'the signature is good, over bytes that JSON.stringify would not write: check it over the raw bytes',
    },
    {
      name: 'unknown-event',
      wants: 'taken',
      requests: [signed(bytes({ ...body(), event: 'envelope.drilled' }))],
      advice: 'the service may add events: answer those that you do not know 200',
    },
    {
      name: 'extra-fields',
      wants: 'taken',
      requests: [
        signed(
          bytes({ ...extended, apiVersion: '2030-01', data: { ...extended.data, esignDrill: { a: [1] } } }),
        ),
      ],
      advice: 'the service may add fields: pass over those that you do not know',
    },
    {
      name: 'payload-shape',
      wants: 'taken',
      requests: [signed(bytes(otherShape))],
      advice: 'read {id, type, createdAt, data} as well as {event, timestamp, data}',
    },
    {
      name: 'large',
      wants: 'taken',
      // Blanks behind it change nothing but its size.
      requests: [signed(Buffer.from(JSON.stringify(body()).padEnd(LARGEST_BYTES)))],
      advice: 'take bodies of up to 1 MiB',
    },
    {
      name: 'slow',
      wants: 'taken',
      requests: [signed(bytes(body())), signed(bytes(body()))],
      isSlow: true,
      advice: 'the body took a second to come: wait for it for at least 10 s',
    },
  ];
}

/** Events of one envelope, the latest first. */
function outOfOrder(events: readonly string[], now: number): ReturnType<typeof sampleBody>[] {
  const names = events.length > 1 ? events.slice(0, 4) : [...events, ...events];
  const envelopeId = madeUpId('drill');
  return names
    .map((event, at) => sampleBody(event, { envelopeId, now: now - (names.length - at) * MINUTE_MS }))
    .reverse();
}

function bytes(body: object): Buffer {
  return Buffer.from(JSON.stringify(body));
}

/** The same as JSON, with other blanks, and a letter as an escape. */
function writtenOtherwise(body: object): string {
  return ` ${JSON.stringify(body, null, 1).replace('Ada', '\\u0041da').replace('"env_', '"\\u0065nv_')}\n`;
}

function requestOf(raw: Buffer, signature?: string, label = ''): DrillRequest {
  const headers: [string, string][] = [['Content-Type', 'application/json']];
  if (signature !== undefined) headers.push([SIGNATURE_HEADER, signature]);
  return { label, raw, headers };
}
