import * as z from 'zod/mini';
import type { HttpRequest, SendRequest } from '../api/http.ts';
import { type Envelope, envelopeSchema, readAs, resourceResponseSchema } from '../api/schemas.ts';
import { BadResponseError, ServiceError, UsageError } from '../kernel/errors.ts';

const nowSchema = z.looseObject({ now: z.string() });
const deliveriesSchema = z.looseObject({ data: z.array(z.record(z.string(), z.unknown())) });

const choiceSchema = z.looseObject({
  name: z.string(),
  value: z.string(),
  default: z.string(),
  values: z.array(z.string()),
  decides: z.string(),
  why: z.string(),
});
const choicesSchema = z.looseObject({ data: z.array(choiceSchema) });
const faultsSchema = z.looseObject({ data: z.record(z.string(), z.unknown()) });

const snapshotSchema = z.looseObject({ name: z.string(), createdAt: z.string(), envelopes: z.number() });
const snapshotReplySchema = z.looseObject({ data: snapshotSchema });
const snapshotsSchema = z.looseObject({ data: z.array(snapshotSchema) });
/** A saved state of the sandbox. */
export type SandboxSnapshot = z.infer<typeof snapshotSchema>;

const mailSchema = z.looseObject({
  id: z.string(),
  at: z.string(),
  kind: z.string(),
  envelopeId: z.string(),
  to: z.string(),
  subject: z.string(),
  link: z.nullable(z.string()),
});
const mailsSchema = z.looseObject({ data: z.array(mailSchema) });
/** An email that the service would have sent; `link` is its signing page. */
export type ListedMail = z.infer<typeof mailSchema>;

const seededSchema = z.object({
  templates: z.number(),
  organisations: z.number(),
  envelopes: z.number(),
  keys: z.array(
    z.looseObject({
      id: z.string(),
      organisation: z.string(),
      key: z.string(),
      scopes: z.array(z.string()),
      expiresAt: z.nullable(z.string()),
    }),
  ),
});
const seedReplySchema = z.looseObject({ data: seededSchema });
/** The number of items loaded from a seed, and its keys. */
export type SeedReply = z.infer<typeof seededSchema>;

/** An ambiguity of the API document, and how the sandbox handles it. */
export type SandboxChoice = z.infer<typeof choiceSchema>;

/** Returns the URL of the control plane for an API base URL: `http://127.0.0.1:4010/api/v1` gives `…:4010/__sandbox`. */
export function controlUrl(baseUrl: string): string {
  return `${new URL(baseUrl).origin}/__sandbox`;
}

/** Signs as this signer, by email address or ID. Default: the next one. */
interface AsSigner {
  signer?: string | undefined;
}

/**
 * Creates a client for the actions of a running sandbox that aren't part of the API, such as signing, declining, and moving the clock. The
 * base URL of `send` must be `controlUrl`. `signal` aborts the requests.
 */
export function sandboxControl(send: SendRequest, signal?: AbortSignal) {
  const get = async <T>(path: string, schema: z.ZodMiniType<T, T>, what: string, query: Query = {}) =>
    readAs(schema, await ask(send, { method: 'GET', path, query: given(query), signal }), what, 200);
  const post = (path: string, body: object) => ask(send, { method: 'POST', path, body, signal });
  const act = async (id: string, action: string, body: object): Promise<Envelope> => {
    const reply = await post(`/envelopes/${encodeURIComponent(id)}/${action}`, body);
    const { data } = readAs(resourceResponseSchema, reply, 'an envelope', 200);
    return readAs(envelopeSchema, data, 'an envelope', 200);
  };
  return {
    /** Signs. With `all`, signs as all remaining signers in order. */
    sign: (id: string, { all, ...wanted }: AsSigner & { all?: boolean; values?: Record<string, string> }) =>
      act(id, 'sign', { ...wanted, all: all || undefined }),
    view: (id: string, signer: string | undefined) => act(id, 'view', { signer }),
    decline: (id: string, wanted: AsSigner & { reason: string }) => act(id, 'decline', wanted),
    /** Moves the sandbox's clock forward. Returns the new time, ISO 8601. */
    async advance(ms: number): Promise<string> {
      return readAs(nowSchema, await post('/clock/advance', { ms }), "the sandbox's time", 200).now;
    },
    async deliveries(envelopeId: string | undefined) {
      return (await get('/deliveries', deliveriesSchema, 'a list of deliveries', { envelopeId })).data;
    },
    /** Returns the emails sent so far. If none exist, waits up to 60 s for one. */
    async mails(filter: {
      to?: string | undefined;
      envelopeId?: string | undefined;
      waitMs?: number | undefined;
    }) {
      const query = { ...filter, waitMs: filter.waitMs?.toString() };
      return (await get('/mails', mailsSchema, 'a list of emails', query)).data;
    },
    /** Loads a seed, with its PDFs in base64. */
    async seed(body: Record<string, unknown>): Promise<SeedReply> {
      return readAs(seedReplySchema, await post('/seed', body), 'the result of loading a seed', 200).data;
    },
    /** Saves the current state under a name. */
    async saveSnapshot(name: string): Promise<SandboxSnapshot> {
      return readAs(snapshotReplySchema, await post('/snapshots', { name }), 'a snapshot', 201).data;
    },
    /** Restores a saved state. */
    async restoreSnapshot(name: string): Promise<SandboxSnapshot> {
      const reply = await post(`/snapshots/${encodeURIComponent(name)}/restore`, {});
      return readAs(snapshotReplySchema, reply, 'a snapshot', 200).data;
    },
    async snapshots(): Promise<SandboxSnapshot[]> {
      return (await get('/snapshots', snapshotsSchema, 'a list of snapshots')).data;
    },
    async removeSnapshot(name: string): Promise<void> {
      await ask(send, { method: 'DELETE', path: `/snapshots/${encodeURIComponent(name)}`, signal });
    },
    async reset(): Promise<void> {
      await post('/reset', {});
    },
    /** Changes the choices in `wanted`. Returns all choices for ambiguities of the API document. */
    async choices(wanted: Readonly<Record<string, string>>): Promise<SandboxChoice[]> {
      if (Object.keys(wanted).length === 0)
        return (await get('/choices', choicesSchema, 'a list of choices')).data;
      return readAs(choicesSchema, await post('/choices', wanted), 'a list of choices', 200).data;
    },
    /** Returns the active faults. `set` replaces all of them; an empty object removes them. */
    async faults(set: Record<string, unknown> | undefined) {
      if (set === undefined) return (await get('/faults', faultsSchema, 'the faults')).data;
      return readAs(faultsSchema, await post('/faults', set), 'the faults', 200).data;
    },
  };
}

/** The actions of a running sandbox. */
export type SandboxControl = ReturnType<typeof sandboxControl>;

type Query = Readonly<Record<string, string | undefined>>;

/** Returns the parameters of a query that have a value. */
function given(query: Query): Record<string, string> {
  const entries = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  return Object.fromEntries(entries);
}

async function ask(send: SendRequest, request: HttpRequest): Promise<unknown> {
  try {
    return (await send(request)).body;
  } catch (error) {
    // Only a sandbox has this path. The real service responds with a 404 in some form.
    const absent =
      error instanceof BadResponseError ||
      (error instanceof ServiceError && /\broute\b/i.test(error.message));
    if (!absent) throw error;
    throw new UsageError('The server at this base URL is not a sandbox.', {
      cause: error,
      hint: 'Start one with `esign sandbox start`, or select its profile with --profile.',
    });
  }
}
