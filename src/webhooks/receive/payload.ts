import { hash } from 'node:crypto';
import { isRecord, parseJson } from '../../kernel/json.ts';
import { jsonExtent } from '../../kernel/text/json-text.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Deeper JSON can be read, but not written again by this runtime, nor read by every other. */
const DEEPEST = 200;

/** What a payload says, whichever of the two shapes seen in the field it has. */
export interface EventFacts {
  /** The payload's own id, else the SHA-256 of its bytes: equal for a delivery that is sent again. */
  id: string;
  event: string | null;
  /** When the service says it happened, ISO 8601. */
  timestamp: string | null;
  envelopeId: string | null;
  status: string | null;
  signer: string | null;
}

export interface Payload {
  /** Null when it is nested too deep to be shown as JSON. */
  body: Record<string, unknown> | null;
  facts: EventFacts;
}

/**
 * Reads a payload: `{event, timestamp, data}` or `{id, type, createdAt, data}`.
 * Undefined when the bytes are not a JSON object in UTF-8.
 */
export function readPayload(bytes: Uint8Array): Payload | undefined {
  const parsed = parse(bytes);
  if (parsed === undefined) return undefined;
  const { body, text: source } = parsed;
  const data = isRecord(body.data) ? body.data : {};
  const signer = isRecord(data.signer) ? data.signer : {};
  return {
    body: jsonExtent(source).depth > DEEPEST ? null : body,
    facts: {
      id: text(body.id) ?? hash('sha256', bytes),
      event: text(body.event) ?? text(body.type),
      timestamp: text(body.timestamp) ?? text(body.createdAt),
      envelopeId: text(data.envelopeId),
      status: text(data.status),
      signer: text(signer.email),
    },
  };
}

function parse(bytes: Uint8Array): { body: Record<string, unknown>; text: string } | undefined {
  try {
    const source = UTF8.decode(bytes);
    const body = parseJson(source);
    return isRecord(body) ? { body, text: source } : undefined;
  } catch {
    return undefined;
  }
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
