import { isRecord } from '../kernel/json.ts';
import type { NotePoint } from './envelope-points.ts';

const MAX_REMEMBERED = 10_000;

/** A verified webhook that is not a duplicate. */
export interface SeenEvent {
  body: Readonly<Record<string, unknown>>;
  event: string | null;
  envelopeId: string | null;
  status: string | null;
  /** The value of the signature header. */
  signature: string | undefined;
}

/** Notes what webhooks show about open points. IDs are only kept in memory. */
export class EventPoints {
  readonly #views = new Set<string>();
  readonly #lastSigned = new Map<string, string>();

  see({ body, event, envelopeId, status, signature }: SeenEvent, note: NotePoint): void {
    note('payload', 'event' in body ? 'event' : 'type' in body ? 'type' : 'other');
    if (signature !== undefined) note('signature', /^\s*sha256=/.test(signature) ? 'prefixed' : 'bare');
    if (envelopeId === null) return;
    const data = isRecord(body.data) ? body.data : {};
    if (event === 'envelope.viewed') this.#noteView(envelopeId, data.signer, note);
    if (event === 'envelope.signed' && status !== null) this.#rememberSigned(envelopeId, status);
    if (event === 'envelope.completed') this.#noteLastSigned(envelopeId, note);
  }

  #rememberSigned(envelopeId: string, status: string): void {
    if (this.#lastSigned.size >= MAX_REMEMBERED) this.#lastSigned.clear();
    this.#lastSigned.set(envelopeId, status);
  }

  #noteLastSigned(envelopeId: string, note: NotePoint): void {
    const last = this.#lastSigned.get(envelopeId);
    if (last === 'IN_PROGRESS') note('last-signed', 'in-progress');
    if (last === 'COMPLETED') note('last-signed', 'completed');
  }

  #noteView(envelopeId: string, signer: unknown, note: NotePoint): void {
    if (!isRecord(signer) || typeof signer.id !== 'string') return;
    if (this.#views.size >= MAX_REMEMBERED) this.#views.clear();
    const view = JSON.stringify([envelopeId, signer.id]);
    if (this.#views.has(view)) note('viewed', 'every');
    this.#views.add(view);
  }
}
