import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { EVENTS } from '../../src/kernel/vocabulary.ts';
import { portOf } from './server.ts';

export const DRILL_SECRET = 'canarysecret-of-the-drill-01';

/** The steps of a correct receiver; a faulty one replaces some of them. */
interface Steps {
  read: (request: IncomingMessage) => Promise<Buffer>;
  trusts: (raw: Buffer, signature: string | undefined) => boolean;
  /** The response to a trusted delivery. */
  take: (body: Record<string, unknown>, raw: Buffer) => number | Promise<number>;
}

const hmac = (raw: string | Buffer) => createHmac('sha256', DRILL_SECRET).update(raw).digest('hex');
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const RIGHT: Steps = {
  read: (request) => buffer(request),
  trusts: (raw, signature) => {
    const [given, wanted] = [Buffer.from(signature ?? ''), Buffer.from(hmac(raw))];
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  },
  take: () => 200,
};

/** An application that receives webhooks, with some steps replaced. */
export function receiver(otherwise: Partial<Steps> = {}): RequestListener {
  const { read, trusts, take } = { ...RIGHT, ...otherwise };
  const answer = async (request: IncomingMessage): Promise<number> => {
    const raw = await read(request);
    const signature = request.headers['x-service-signature'];
    if (!trusts(raw, Array.isArray(signature) ? signature[0] : signature)) return 401;
    const body = parseJson(raw.toString());
    return isRecord(body) ? take(body, raw) : 400;
  };
  return (request, response) => {
    answer(request).then(
      (status) => response.writeHead(status, { connection: 'close' }).end(),
      () => response.writeHead(500, { connection: 'close' }).end(),
    );
  };
}

const eventOf = ({ event, type }: Record<string, unknown>) => String(event ?? type);
const envelopeOf = ({ data }: Record<string, unknown>) => (isRecord(data) ? String(data.envelopeId) : '');

function once(): Steps['take'] {
  const seen = new Set<string>();
  return (_, raw) => {
    const isNew = !seen.has(hmac(raw));
    seen.add(hmac(raw));
    return isNew ? 200 : 409;
  };
}

/** Remembers the time of the latest event, and refuses older ones. */
function inOrder(): Steps['take'] {
  const latest = new Map<string, string>();
  return (body) => {
    const at = String(body.timestamp ?? body.createdAt);
    if (at < (latest.get(envelopeOf(body)) ?? '')) return 500;
    latest.set(envelopeOf(body), at);
    return 200;
  };
}

async function limited(request: IncomingMessage, bytes: number): Promise<Buffer> {
  const raw = await buffer(request);
  if (raw.byteLength > bytes) throw new Error('too large');
  return raw;
}

/** Twelve kinds of common faults, and more, each with the checks that detect it. */
export const FAULTY: readonly {
  fault: string;
  steps: Partial<Steps>;
  named: readonly string[];
}[] = [
  {
    fault: 'accepts everything',
    steps: { trusts: () => true },
    named: ['wrong-signature', 'missing-signature', 'short-signature', 'changed-bytes'],
  },
  {
    fault: 'only requires that there is a signature',
    steps: { trusts: (_, signature) => signature !== undefined },
    named: ['wrong-signature', 'short-signature', 'changed-bytes'],
  },
  {
    fault: 'checks a signature only if there is one',
    steps: { trusts: (raw, signature) => signature === undefined || RIGHT.trusts(raw, signature) },
    named: ['missing-signature'],
  },
  {
    fault: 'compares only the received length',
    steps: { trusts: (raw, signature) => signature !== undefined && hmac(raw).startsWith(signature) },
    named: ['short-signature'],
  },
  {
    fault: 'crashes on a signature of another length',
    steps: {
      trusts: (raw, one) => one !== undefined && timingSafeEqual(Buffer.from(one), Buffer.from(hmac(raw))),
    },
    named: ['short-signature'],
  },
  {
    fault: 'signs the body after parsing and serializing it',
    steps: { trusts: (raw, signature) => signature === hmac(JSON.stringify(parseJson(raw.toString()))) },
    named: ['changed-bytes', 'raw-bytes', 'large'],
  },
  {
    fault: 'has another secret',
    steps: { trusts: (raw, signature) => signature === hmac(`${raw.toString()}!`) },
    named: ['good'],
  },
  { fault: 'refuses a duplicate', steps: { take: once() }, named: ['repeated'] },
  { fault: 'requires events in order', steps: { take: inOrder() }, named: ['out-of-order'] },
  {
    fault: 'crashes on an unknown event',
    steps: { take: (body) => (EVENTS.some((known) => known === eventOf(body)) ? 200 : 500) },
    named: ['unknown-event'],
  },
  {
    fault: 'refuses unknown fields',
    steps: { take: (body) => (Object.keys(body).some((key) => key === 'apiVersion') ? 422 : 200) },
    named: ['extra-fields'],
  },
  {
    fault: 'accepts only one payload shape',
    steps: { take: (body) => (body.event === undefined ? 400 : 200) },
    named: ['payload-shape'],
  },
  {
    fault: "has its framework's body limit",
    steps: { read: (request) => limited(request, 100 * 1024) },
    named: ['large'],
  },
  {
    fault: 'disconnects slow senders',
    steps: {
      read: (request) => {
        const timer = setTimeout(() => request.destroy(), 700);
        return buffer(request).finally(() => clearTimeout(timer));
      },
    },
    named: ['slow'],
  },
  {
    fault: 'answers before it has read the body',
    steps: { read: () => Promise.resolve(Buffer.from('{}')), trusts: () => true },
    named: ['wrong-signature', 'missing-signature', 'short-signature', 'changed-bytes'],
  },
  {
    fault: 'sends a redirect',
    steps: { take: () => 302 },
    named: ['good'],
  },
  {
    fault: 'works for a long time before it answers',
    steps: { take: () => pause(6_000).then(() => 200) },
    named: ['good'],
  },
];

/** Correct receivers of different kinds. */
export const GOOD: readonly { kind: string; steps: Partial<Steps> }[] = [
  { kind: 'as documented', steps: {} },
  {
    kind: 'lenient about uppercase',
    steps: { trusts: (raw, one) => RIGHT.trusts(raw, one?.toLowerCase()) },
  },
  { kind: 'queues, and answers 202', steps: { take: () => 202 } },
  { kind: 'slow', steps: { take: () => pause(400).then(() => 204) } },
];

/** The receiver at a local address. */
export async function serve(listener: RequestListener): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const port = portOf(server);
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}/hooks`, close };
}
