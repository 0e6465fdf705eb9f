import { randomBytes } from 'node:crypto';
import { MAX_BODY_BYTES } from '../receive/body-limits.ts';
import { sampleBody, sampleEnvelopeId } from '../sample.ts';
import { type DrillRequest, type DrillRequests, unknownSecretSignature } from './requests.ts';

/** Requests for a receiver, and the expected response. */
export interface DrillCheck {
  name: string;
  /** The expected response to each request: 2xx (accepted) or 4xx (refused). */
  expects: 'accepted' | 'refused';
  /** How to fix a receiver that responds differently. */
  advice: string;
  /** More specific advice for some statuses. */
  adviceByStatus?: Readonly<Record<number, string>>;
  requests: (make: DrillRequests) => readonly DrillRequest[];
  /** Whether to send the body in pieces. */
  isSlow?: boolean;
}

const OTHER_SECRET = 'it has a different secret, or does not verify the signature over the raw body';
const OTHER_PATH = 'it does not accept webhooks at this path';

const OUT_OF_ORDER = ['envelope.completed', 'envelope.signed', 'envelope.viewed', 'envelope.sent'] as const;
const MINUTE_MS = 60_000;

/** All checks in the order in which they run. The first one shows whether the receiver accepts valid deliveries at all. */
export const DRILL_CHECKS: readonly DrillCheck[] = [
  {
    name: 'good',
    expects: 'accepted',
    advice: 'respond to a valid delivery with 200',
    adviceByStatus: { 401: OTHER_SECRET, 403: OTHER_SECRET, 404: OTHER_PATH, 405: OTHER_PATH },
    requests: ({ valid }) => valid,
  },
  {
    name: 'repeated',
    expects: 'accepted',
    advice: 'a delivery can be repeated: respond with 200, and process it only once',
    requests: ({ valid }) => valid.slice(0, 1).map((one) => ({ ...one, label: '' })),
  },
  {
    name: 'out-of-order',
    expects: 'accepted',
    advice:
      'events can arrive out of order: respond with 200, and read the envelope from the API if the order matters',
    requests: (make) => {
      const envelopeId = sampleEnvelopeId('drill');
      return OUT_OF_ORDER.map((event, at) =>
        make.signed(sampleBody(event, { envelopeId, now: make.now - (at + 1) * MINUTE_MS }), event),
      );
    },
  },
  {
    name: 'wrong-signature',
    expects: 'refused',
    advice: 'it was signed with a different secret: compare the signature, and respond with 401',
    requests: (make) => {
      const body = make.body();
      return [make.request(body, unknownSecretSignature(body))];
    },
  },
  {
    name: 'missing-signature',
    expects: 'refused',
    advice: 'treat a missing signature as invalid: respond with 401',
    requests: (make) => [make.request(make.body())],
  },
  {
    name: 'short-signature',
    expects: 'refused',
    advice: 'check the length, compare all 64 digits, and respond with 401',
    requests: (make) => {
      const body = make.body();
      return [
        make.request(body, make.signatureOf(body).slice(0, 32), 'first half only'),
        make.request(body, 'not a signature', 'not hex'),
      ];
    },
  },
  {
    name: 'changed-bytes',
    expects: 'refused',
    advice: 'verify the signature against the raw bytes of the body before you parse it',
    requests: (make) => {
      const body = make.body();
      const signature = make.signatureOf(body);
      const changed = { ...body, data: { ...body.data, status: `${body.data.status}_CHANGED` } };
      const renamed = { ...body, event: 'envelope.completed' };
      return [
        make.request(changed, signature, 'status changed'),
        make.request(renamed, signature, 'event changed'),
        make.request(Buffer.from(JSON.stringify(body, null, 2)), signature, 'spaces added'),
      ];
    },
  },
  {
    name: 'raw-bytes',
    expects: 'accepted',
    advice:
      'the signature is valid, but JSON.stringify would write different bytes: verify it over the raw bytes',
    requests: (make) => [make.signed(Buffer.from(reformatted(make.body())))],
  },
  {
    name: 'unknown-event',
    expects: 'accepted',
    advice: 'the service may add events: respond to unknown events with 200',
    requests: (make) => [make.signed({ ...make.body(), event: 'envelope.drilled' })],
  },
  {
    name: 'extra-fields',
    expects: 'accepted',
    advice: 'the service may add fields: ignore unknown fields',
    requests: (make) => {
      const body = make.body();
      const data = { ...body.data, esignDrill: { a: [1] } };
      return [make.signed({ ...body, apiVersion: '2030-01', data })];
    },
  },
  {
    name: 'payload-shape',
    expects: 'accepted',
    advice: 'read {id, type, createdAt, data} as well as {event, timestamp, data}',
    requests: (make) => {
      const { event: type, timestamp: createdAt, data } = make.body();
      return [make.signed({ id: `evt_${randomBytes(10).toString('hex')}`, type, createdAt, data })];
    },
  },
  {
    name: 'large',
    expects: 'accepted',
    advice: 'accept bodies of up to 1 MiB',
    // Trailing spaces change only the size of the JSON.
    requests: (make) => [make.signed(Buffer.from(JSON.stringify(make.body()).padEnd(MAX_BODY_BYTES)))],
  },
  {
    name: 'slow',
    expects: 'accepted',
    advice: 'the body took 1 s to arrive: allow at least 10 s',
    isSlow: true,
    requests: (make) => [make.signed(make.body())],
  },
];

/** Returns equivalent JSON with different whitespace and an escaped letter. */
function reformatted(body: object): string {
  return ` ${JSON.stringify(body, null, 1).replace('Ada', '\\u0041da').replace('"env_', '"\\u0065nv_')}\n`;
}
