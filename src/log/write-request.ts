import * as z from 'zod/mini';
import type { HttpRequest } from '../api/http.ts';
import type { Effect } from '../kernel/command-effects.ts';
import { isRecord, tryParseJson } from '../kernel/json.ts';
import { repeatsName } from '../kernel/text/json-text.ts';
import { REQUEST_ID_KEY } from '../kernel/vocabulary.ts';
import type { LoggedWriteFacts } from './recorder.ts';
import type { LoggedAction } from './stored-records.ts';

/** The effect of a request, as shown by the request itself. */
export interface WriteEffect {
  action: LoggedAction;
  effect: Effect;
  envelopeId?: string | undefined;
  /** Only for a create. */
  requestId?: string | undefined;
  /** The addresses of a new envelope's signers; undefined if they can't be read. */
  emails?: readonly string[] | undefined;
  /** True if a create emails them. */
  sends: boolean;
  /** The signer to remind. */
  signer?: string | undefined;
  /** Why to cancel it. */
  reason?: string | undefined;
}

const ENVELOPES = '/esign/envelopes';
/** The ID can't contain escapes, because a server might read them as another path. */
const ACTION = /^\/esign\/envelopes\/(?<id>[\w.~:-]+)\/(?<action>send|cancel|remind)$/;

/**
 * Create envelope body (API document). The recipients of a body with other fields count as unreadable, because such a field might
 * name more of them.
 */
const createSchema = z.strictObject({
  templateId: z.optional(z.unknown()),
  signers: z.array(
    z.strictObject({
      email: z.string(),
      name: z.optional(z.unknown()),
      role: z.optional(z.unknown()),
      order: z.optional(z.unknown()),
    }),
  ),
  subject: z.optional(z.unknown()),
  message: z.optional(z.unknown()),
  metadata: z.optional(z.unknown()),
  webhookUrl: z.optional(z.unknown()),
  webhookSecret: z.optional(z.unknown()),
  expiresInDays: z.optional(z.unknown()),
  signingOrder: z.optional(z.unknown()),
  sendImmediately: z.optional(z.boolean()),
});

/** Describes a request that is not a GET. */
export function readWrite({ method, path, query, body, bodyText }: HttpRequest): WriteEffect {
  const other: WriteEffect = {
    action: 'other',
    effect: method === 'DELETE' ? 'deletes' : 'writes',
    sends: false,
  };
  if (method !== 'POST' || Object.keys(query ?? {}).length > 0) return other;
  const sent = body ?? (bodyText === undefined ? undefined : tryParseJson(bodyText));
  if (path === ENVELOPES) return { ...other, action: 'create', ...readCreate(sent, bodyText) };
  const { id: envelopeId, action } = ACTION.exec(path)?.groups ?? {};
  if (action !== 'send' && action !== 'cancel' && action !== 'remind') return other;
  if ((sent !== undefined || bodyText) && !isPlainAction(sent, bodyText)) return other;
  const textAt = (key: string) => (isRecord(sent) && typeof sent[key] === 'string' ? sent[key] : undefined);
  const [signer, reason] = [textAt('signerId'), textAt('reason')];
  return { ...other, action, effect: 'mails', envelopeId, signer, reason };
}

/** Returns what the log keeps of a request that was read with `readWrite`. */
export function writeFactsOf(
  { action, effect, envelopeId, requestId, signer, reason }: WriteEffect,
  { once, content }: HttpRequest,
): LoggedWriteFacts {
  const envelopeIds = envelopeId === undefined ? [] : [envelopeId];
  return { action, effect, envelopeIds, requestId, signerId: signer, reason, once, content };
}

/** Returns true if every service reads the body of an action in the same way: no other fields, values of other types, or repeated names. */
function isPlainAction(sent: unknown, text: string | undefined): boolean {
  if (!isRecord(sent) || (text !== undefined && repeatsName(text, sent))) return false;
  return Object.entries(sent).every(
    ([key, value]) =>
      (key === 'signerId' || key === 'reason') && (typeof value === 'string' || value === null),
  );
}

function readCreate(body: unknown, text: string | undefined): Partial<WriteEffect> {
  const metadata = isRecord(body) && isRecord(body.metadata) ? body.metadata : {};
  const requestId = metadata[REQUEST_ID_KEY];
  const sends = isRecord(body) && body.sendImmediately === true;
  const read = createSchema.safeParse(body).data;
  // If a name occurs twice in an object, the service may read the first one.
  const isPlain = text === undefined || !repeatsName(text, body);
  return {
    effect: sends ? 'mails' : 'writes',
    requestId: typeof requestId === 'string' ? requestId : undefined,
    emails: isPlain ? read?.signers.map(({ email }) => email) : undefined,
    sends: sends || read === undefined || !isPlain,
  };
}
