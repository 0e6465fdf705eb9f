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
 * base URL of `send` must be `controlUrl`.
 */
export function sandboxControl(send: SendRequest) {
  const read = async <T>(schema: z.ZodMiniType<T, T>, request: HttpRequest, what: string, status = 200) =>
    readAs(schema, await ask(send, request), what, status);
  const act = async (id: string, action: string, body: object, signal?: AbortSignal): Promise<Envelope> => {
    const path = `/envelopes/${encodeURIComponent(id)}/${action}`;
    const { data } = await read(
      resourceResponseSchema,
      { method: 'POST', path, body, signal },
      'an envelope',
    );
    return readAs(envelopeSchema, data, 'an envelope', 200);
  };
  return {
    /** Signs. With `all`, signs as all remaining signers in order. */
    sign: (
      id: string,
      { all, ...wanted }: AsSigner & { all?: boolean; values?: Record<string, string> },
      signal?: AbortSignal,
    ) => act(id, 'sign', { ...wanted, all: all || undefined }, signal),
    view: (id: string, signer: string | undefined, signal?: AbortSignal) =>
      act(id, 'view', { signer }, signal),
    decline: (id: string, wanted: AsSigner & { reason: string }, signal?: AbortSignal) =>
      act(id, 'decline', wanted, signal),
    /** Moves the sandbox's clock forward. Returns the new time, ISO 8601. */
    async advance(ms: number, signal?: AbortSignal): Promise<string> {
      const request = { method: 'POST', path: '/clock/advance', body: { ms }, signal } as const;
      return (await read(nowSchema, request, "the sandbox's time")).now;
    },
    async deliveries(envelopeId: string | undefined, signal?: AbortSignal) {
      const request = { method: 'GET', path: '/deliveries', query: given({ envelopeId }), signal } as const;
      return (await read(deliveriesSchema, request, 'a list of deliveries')).data;
    },
    /** Returns the emails sent so far. If none exist, waits up to 60 s for one. */
    async mails(
      {
        waitMs,
        ...filter
      }: { to?: string | undefined; envelopeId?: string | undefined; waitMs?: number | undefined },
      signal?: AbortSignal,
    ) {
      const query = given({ ...filter, waitMs: waitMs?.toString() });
      return (await read(mailsSchema, { method: 'GET', path: '/mails', query, signal }, 'a list of emails'))
        .data;
    },
    /** Loads a seed, with its PDFs in base64. */
    async seed(body: Record<string, unknown>, signal?: AbortSignal): Promise<SeedReply> {
      const request = { method: 'POST', path: '/seed', body, signal } as const;
      return (await read(seedReplySchema, request, 'the result of loading a seed')).data;
    },
    /** Saves the current state under a name. */
    async saveSnapshot(name: string, signal?: AbortSignal): Promise<SandboxSnapshot> {
      const request = { method: 'POST', path: '/snapshots', body: { name }, signal } as const;
      return (await read(snapshotReplySchema, request, 'a snapshot', 201)).data;
    },
    /** Restores a saved state. */
    async restoreSnapshot(name: string, signal?: AbortSignal): Promise<SandboxSnapshot> {
      const path = `/snapshots/${encodeURIComponent(name)}/restore`;
      return (await read(snapshotReplySchema, { method: 'POST', path, body: {}, signal }, 'a snapshot')).data;
    },
    async snapshots(signal?: AbortSignal): Promise<SandboxSnapshot[]> {
      const request = { method: 'GET', path: '/snapshots', signal } as const;
      return (await read(snapshotsSchema, request, 'a list of snapshots')).data;
    },
    async removeSnapshot(name: string, signal?: AbortSignal): Promise<void> {
      await ask(send, { method: 'DELETE', path: `/snapshots/${encodeURIComponent(name)}`, signal });
    },
    async reset(signal?: AbortSignal): Promise<void> {
      await ask(send, { method: 'POST', path: '/reset', body: {}, signal });
    },
    /** Changes the choices in `wanted`. Returns all choices for ambiguities of the API document. */
    async choices(wanted: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<SandboxChoice[]> {
      const change = Object.keys(wanted).length === 0 ? GET : ({ method: 'POST', body: wanted } as const);
      return (await read(choicesSchema, { ...change, path: '/choices', signal }, 'a list of choices')).data;
    },
    /** Returns the active faults. `set` replaces all of them; an empty object removes them. */
    async faults(set: Record<string, unknown> | undefined, signal?: AbortSignal) {
      const change = set === undefined ? GET : ({ method: 'POST', body: set } as const);
      return (await read(faultsSchema, { ...change, path: '/faults', signal }, 'the faults')).data;
    },
  };
}

/** The actions of a running sandbox. */
export type SandboxControl = ReturnType<typeof sandboxControl>;

const GET = { method: 'GET' } as const;

/** Returns the parameters of a query that have a value. */
function given(query: Readonly<Record<string, string | undefined>>): Record<string, string> {
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
