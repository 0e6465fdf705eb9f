import * as z from 'zod/mini';
import type { HttpRequest, SendRequest } from '../api/http.ts';
import { type Envelope, envelopeSchema, readAs, resourceReplySchema } from '../api/schemas.ts';
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

/** The actions of a running sandbox that aren't part of the API, such as signing, declining, and moving the clock. */
export interface SandboxControl {
  /** Signs as the next signer, or as the one with this email address or ID. With `all`, signs as all remaining signers in order. */
  sign(
    id: string,
    wanted: { signer?: string | undefined; all?: boolean; values?: Record<string, string> },
    signal?: AbortSignal,
  ): Promise<Envelope>;
  view(id: string, signer: string | undefined, signal?: AbortSignal): Promise<Envelope>;
  decline(
    id: string,
    wanted: { signer?: string | undefined; reason: string },
    signal?: AbortSignal,
  ): Promise<Envelope>;
  /** Moves the sandbox's clock forward. Returns the new time, ISO 8601. */
  advance(ms: number, signal?: AbortSignal): Promise<string>;
  deliveries(envelopeId: string | undefined, signal?: AbortSignal): Promise<Record<string, unknown>[]>;
  /** Returns the emails sent so far. If none exist, waits up to 60 s for one. */
  mails(
    filter: { to?: string | undefined; envelopeId?: string | undefined; waitMs?: number | undefined },
    signal?: AbortSignal,
  ): Promise<ListedMail[]>;
  /** Loads a seed, with its PDFs in base64. */
  seed(seed: Record<string, unknown>, signal?: AbortSignal): Promise<SeedReply>;
  /** Saves the current state under a name. */
  saveSnapshot(name: string, signal?: AbortSignal): Promise<SandboxSnapshot>;
  /** Restores a saved state. */
  restoreSnapshot(name: string, signal?: AbortSignal): Promise<SandboxSnapshot>;
  snapshots(signal?: AbortSignal): Promise<SandboxSnapshot[]>;
  removeSnapshot(name: string, signal?: AbortSignal): Promise<void>;
  reset(signal?: AbortSignal): Promise<void>;
  /** Changes the choices in `wanted`. Returns all choices for ambiguities of the API document. */
  choices(wanted: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<SandboxChoice[]>;
  /** Returns the active faults. `set` replaces all of them; an empty object removes them. */
  faults(set: Record<string, unknown> | undefined, signal?: AbortSignal): Promise<Record<string, unknown>>;
}

/** An ambiguity of the API document, and how the sandbox handles it. */
export type SandboxChoice = z.infer<typeof choiceSchema>;

/** Returns the URL of the control plane for an API base URL: `http://127.0.0.1:4010/api/v1` gives `…:4010/__sandbox`. */
export function controlUrl(baseUrl: string): string {
  return `${new URL(baseUrl).origin}/__sandbox`;
}

/** Creates a client for the control plane. The base URL of `send` must be `controlUrl`. */
export function sandboxControl(send: SendRequest): SandboxControl {
  const post = (path: string, body: unknown, signal: AbortSignal | undefined) =>
    ask(send, { method: 'POST', path, body, signal });
  const act = async (id: string, action: string, body: unknown, signal: AbortSignal | undefined) => {
    const reply = await post(`/envelopes/${encodeURIComponent(id)}/${action}`, body, signal);
    return readAs(
      envelopeSchema,
      readAs(resourceReplySchema, reply, 'an envelope', 200).data,
      'an envelope',
      200,
    );
  };
  return {
    sign: (id, { signer, all, values }, signal) =>
      act(
        id,
        'sign',
        {
          ...(signer === undefined ? {} : { signer }),
          ...(all ? { all } : {}),
          ...(values ? { values } : {}),
        },
        signal,
      ),
    view: (id, signer, signal) => act(id, 'view', signer === undefined ? {} : { signer }, signal),
    decline: (id, { signer, reason }, signal) =>
      act(id, 'decline', { reason, ...(signer === undefined ? {} : { signer }) }, signal),
    async advance(ms, signal) {
      return readAs(nowSchema, await post('/clock/advance', { ms }, signal), "the sandbox's time", 200).now;
    },
    async deliveries(envelopeId, signal) {
      const query = envelopeId === undefined ? {} : { envelopeId };
      const reply = await ask(send, { method: 'GET', path: '/deliveries', query, signal });
      return readAs(deliveriesSchema, reply, 'a list of deliveries', 200).data;
    },
    async mails({ to, envelopeId, waitMs }, signal) {
      const query = {
        ...(to === undefined ? {} : { to }),
        ...(envelopeId === undefined ? {} : { envelopeId }),
        ...(waitMs === undefined ? {} : { waitMs: String(waitMs) }),
      };
      const reply = await ask(send, { method: 'GET', path: '/mails', query, signal });
      return readAs(mailsSchema, reply, 'a list of emails', 200).data;
    },
    async seed(seed, signal) {
      return readAs(seedReplySchema, await post('/seed', seed, signal), 'the result of a seed', 200).data;
    },
    async saveSnapshot(name, signal) {
      const reply = await post('/snapshots', { name }, signal);
      return readAs(snapshotReplySchema, reply, 'a snapshot', 201).data;
    },
    async restoreSnapshot(name, signal) {
      const reply = await post(`/snapshots/${encodeURIComponent(name)}/restore`, {}, signal);
      return readAs(snapshotReplySchema, reply, 'a snapshot', 200).data;
    },
    async snapshots(signal) {
      const reply = await ask(send, { method: 'GET', path: '/snapshots', signal });
      return readAs(snapshotsSchema, reply, 'a list of snapshots', 200).data;
    },
    async removeSnapshot(name, signal) {
      await ask(send, { method: 'DELETE', path: `/snapshots/${encodeURIComponent(name)}`, signal });
    },
    async reset(signal) {
      await post('/reset', {}, signal);
    },
    async choices(wanted, signal) {
      const none = Object.keys(wanted).length === 0;
      const reply = none
        ? ask(send, { method: 'GET', path: '/choices', signal })
        : post('/choices', wanted, signal);
      return readAs(choicesSchema, await reply, 'a list of choices', 200).data;
    },
    async faults(set, signal) {
      const reply =
        set === undefined
          ? ask(send, { method: 'GET', path: '/faults', signal })
          : post('/faults', set, signal);
      return readAs(faultsSchema, await reply, 'the faults', 200).data;
    },
  };
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
    throw new UsageError('The server at this address is not a sandbox.', {
      cause: error,
      hint: 'Start one with `esign sandbox start`, or select its profile with --profile.',
    });
  }
}
