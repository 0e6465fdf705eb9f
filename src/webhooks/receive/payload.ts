import { hash } from 'node:crypto';
import { isDeeperThan, isRecord, parseJson } from '../../kernel/json.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The maximum nesting. JSON nested deeper than this can be parsed, but this runtime can't serialize it and other parsers may fail. */
const MAX_DEPTH = 200;

/** The maximum nesting of a payload that is shown indented. A deeper one could become a hundred times as large. */
export const MAX_INDENTED_LEVELS = 20;

/** A payload, in any of its known shapes. */
export interface Payload {
  /** The ID in the payload, or the SHA-256 of its bytes. A repeated delivery has the same ID. */
  id: string;
  event: string | null;
  /** The time of the event by the service's clock, in ISO 8601. */
  timestamp: string | null;
  envelopeId: string | null;
  status: string | null;
  signer: string | null;
  /** Null if it is nested too deeply to be shown as JSON. */
  body: Record<string, unknown> | null;
}

/** The fields of bytes that are not a JSON object. */
export const NO_PAYLOAD: Payload = {
  id: '',
  event: null,
  timestamp: null,
  envelopeId: null,
  status: null,
  signer: null,
  body: null,
};

/**
 * Reads a payload: `{event, timestamp, data}` or `{id, type, createdAt, data}`. The API document shows the data of only one event,
 * so the envelope ID may be `data.envelopeId`, `data.envelope.id`, or `data.id`.
 * Returns undefined if the bytes are not a JSON object in UTF-8.
 */
export function readPayload(bytes: Uint8Array): Payload | undefined {
  const body = parse(bytes);
  if (!isRecord(body)) return undefined;
  const data = isRecord(body.data) ? body.data : {};
  const envelope = isRecord(data.envelope) ? data.envelope : {};
  const signer = isRecord(data.signer) ? data.signer : {};
  return {
    id: text(body.id) ?? hash('sha256', bytes),
    event: text(body.event) ?? text(body.type),
    timestamp: text(body.timestamp) ?? text(body.createdAt),
    envelopeId: text(data.envelopeId) ?? text(envelope.id) ?? envelopeIdIn(data.id),
    status: text(data.status) ?? text(envelope.status),
    signer: text(signer.email),
    body: isDeeperThan(body, MAX_DEPTH) ? null : body,
  };
}

function parse(bytes: Uint8Array): unknown {
  try {
    return parseJson(UTF8.decode(bytes));
  } catch {
    return undefined;
  }
}

/** The data may be the envelope itself, or have its own ID. */
function envelopeIdIn(id: unknown): string | null {
  return typeof id === 'string' && id.startsWith('env_') ? id : null;
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
