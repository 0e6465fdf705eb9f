import { randomBytes } from 'node:crypto';
import { EVENTS, type EventName, SIGNATURE_HEADER } from '../../kernel/vocabulary.ts';
import { sign } from '../receive/signature.ts';
import { sampleBody, sampleEnvelopeId } from '../sample.ts';

export interface DrillRequest {
  /** Distinguishes the requests of a check. Empty if there is only one. */
  label: string;
  raw: Buffer;
  headers: [string, string][];
}

/** Creates the requests of a drill. The envelopes and people in them are made up. */
export class DrillRequests {
  readonly #secret: string;
  /** ms since the epoch */
  readonly now: number;
  /** A valid delivery of each event. */
  readonly valid: readonly DrillRequest[];

  constructor(secret: string, now: number) {
    this.#secret = secret;
    this.now = now;
    this.valid = EVENTS.map((event) => this.signed(this.body(event), event));
  }

  /** Returns the payload of an event for a new envelope. */
  body(event: EventName = EVENTS[0]): ReturnType<typeof sampleBody> {
    return sampleBody(event, { envelopeId: sampleEnvelopeId('drill'), now: this.now });
  }

  /** Returns a valid delivery of a payload or of these bytes. */
  signed(payload: object | Buffer, label = ''): DrillRequest {
    const raw = bytesOf(payload);
    return this.request(raw, sign(raw, this.#secret), label);
  }

  /** Returns the valid signature of a payload. */
  signatureOf(payload: object): string {
    return sign(bytesOf(payload), this.#secret);
  }

  /** Returns a delivery with any signature, or none. */
  request(payload: object | Buffer, signature?: string, label = ''): DrillRequest {
    const headers: [string, string][] = [['Content-Type', 'application/json']];
    if (signature !== undefined) headers.push([SIGNATURE_HEADER, signature]);
    return { label, raw: bytesOf(payload), headers };
  }
}

/** Returns a signature that was made with a secret that nobody has. */
export function unknownSecretSignature(payload: object): string {
  return sign(bytesOf(payload), randomBytes(24).toString('hex'));
}

function bytesOf(payload: object | Buffer): Buffer {
  return Buffer.isBuffer(payload) ? payload : Buffer.from(JSON.stringify(payload));
}
