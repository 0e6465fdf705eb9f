import * as z from 'zod/mini';
import { BadResponseError, ServiceError, UnknownOutcomeError, UsageError } from '../kernel/errors.ts';
import { isAmbiguous } from '../kernel/request-failures.ts';
import type { HttpRequest, SendRequest } from './http.ts';
import { envelopeSchema, readAs, resourceResponseSchema } from './schemas.ts';

const nowSchema = z.looseObject({ now: z.string() });
const mailSchema = z.looseObject({
  id: z.string(),
  at: z.string(),
  kind: z.string(),
  envelopeId: z.string(),
  to: z.string(),
  subject: z.string(),
  link: z.nullable(z.string()),
});
/** An email that the service would have sent; `link` is its signing page. */
export type ListedMail = z.infer<typeof mailSchema>;

const seededSchema = z.object({
  templates: z.number(),
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
/** The number of items loaded from a seed, and its keys. */
export type SeedResponse = z.infer<typeof seededSchema>;

/** Returns the URL of the control plane for an API base URL: `http://127.0.0.1:4010/api/v1` gives `…:4010/__sandbox`. */
export function controlUrl(baseUrl: string): string {
  return `${new URL(baseUrl).origin}/__sandbox`;
}

/** Signs as this signer, by email address or ID. Default: the next one. */
interface AsSigner {
  signer?: string | undefined;
}

interface MailQuery {
  to?: string | undefined;
  envelopeId?: string | undefined;
  waitMs?: number | undefined;
}

/**
 * Creates a client for the actions of a running sandbox that aren't part of the API, such as signing, declining, and moving the clock. The
 * base URL of `send` must be `controlUrl`. `signal` aborts the requests.
 */
export function sandboxControl(send: SendRequest, signal?: AbortSignal) {
  const read = async <T>(request: HttpRequest, schema: z.ZodMiniType<T, T>, what: string): Promise<T> => {
    const reply = await ask(send, { ...request, signal });
    return readAs(schema, readAs(resourceResponseSchema, reply, what, 200).data, what, 200);
  };
  const act = async (id: string, action: string, body: object) => {
    const path = `/envelopes/${encodeURIComponent(id)}/${action}`;
    try {
      return await read({ method: 'POST', path, body }, envelopeSchema, 'an envelope');
    } catch (error) {
      if (error instanceof ServiceError) error.subject = { kind: 'envelope', id };
      throw error;
    }
  };
  const post = (path: string, body: object) => ask(send, { method: 'POST', path, body, signal });
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
    /** Returns the emails sent so far. If none exist, waits up to 60 s for one. */
    mails: ({ to, envelopeId, waitMs }: MailQuery) => {
      const query = {
        ...(to === undefined ? {} : { to }),
        ...(envelopeId === undefined ? {} : { envelopeId }),
        ...(waitMs === undefined ? {} : { waitMs: String(waitMs) }),
      };
      return read({ method: 'GET', path: '/mails', query }, z.array(mailSchema), 'a list of emails');
    },
    /** Loads a seed. */
    seed: (body: object) =>
      read({ method: 'POST', path: '/seed', body }, seededSchema, 'the result of loading a seed'),
    /** Fails if the server isn't a sandbox. */
    async status(): Promise<void> {
      readAs(nowSchema, await ask(send, { method: 'GET', path: '/', signal }), "the sandbox's status", 200);
    },
    /** @throws UnknownOutcomeError if the response was lost. */
    async reset(): Promise<void> {
      try {
        await post('/reset', {});
      } catch (error) {
        if (!isAmbiguous(error)) throw error;
        throw new UnknownOutcomeError(`${error.message} The sandbox may have been reset.`, { cause: error });
      }
    },
  };
}

export type SandboxControl = ReturnType<typeof sandboxControl>;

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
