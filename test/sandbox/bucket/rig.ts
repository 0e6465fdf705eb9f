import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { onTestFinished } from 'vitest';
import { type BucketOptions, type BucketServer, startBucket } from '../../../src/sandbox/bucket/server.ts';
import { sha256, signHeaders, type ToSign, type Who } from './witness.ts';

export const REGION = 'eu-west-3';
export const BUCKET = 'documents';
export const owner = { accessKeyId: 'AKIDOWNER', secretAccessKey: 'owner-secret' };

export interface Rig {
  server: BucketServer;
  endpoint: string;
  /** The folder above the server's own, which makes escapes visible. */
  outside: string;
  dir: string;
  client(config?: Partial<S3ClientConfig>): S3Client;
  /** All paths under `outside`, in order. */
  tree(): Promise<string[]>;
  restart(): Promise<void>;
}

/** A server on a free port with a new folder; both are removed when the test ends. */
export async function startRig(options: Partial<BucketOptions> = {}): Promise<Rig> {
  const outside = await mkdtemp(join(tmpdir(), 'esign-bucket-'));
  const dir = join(outside, 'a', 'b', 'data');
  const all: BucketOptions = {
    dir,
    host: '127.0.0.1',
    port: 0,
    region: REGION,
    bucket: BUCKET,
    now: () => Date.now(),
    ...owner,
    ...options,
  };
  const clients: S3Client[] = [];
  const server = await startBucket(all);
  const rig: Rig = {
    server,
    endpoint: server.endpoint,
    outside,
    dir: all.dir,
    client: (config = {}) => {
      const client = new S3Client({
        ...{
          endpoint: rig.endpoint,
          region: REGION,
          forcePathStyle: true,
          credentials: owner,
          maxAttempts: 1,
        },
        ...config,
      });
      clients.push(client);
      return client;
    },
    tree: async () => (await readdir(outside, { recursive: true })).sort(),
    restart: async () => {
      await rig.server.close();
      rig.server = await startBucket(all);
      rig.endpoint = rig.server.endpoint;
    },
  };
  onTestFinished(async () => {
    for (const client of clients) client.destroy();
    await rig.server.close();
    await rm(outside, { recursive: true, force: true });
  });
  return rig;
}

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The Code of an error. */
  code: string | undefined;
}

export interface Raw {
  method?: string;
  target: string;
  headers?: Record<string, string>;
  body?: Uint8Array | string;
}

/** Sends exactly this: no library changes path or headers. */
export function send(endpoint: string, raw: Raw): Promise<Reply> {
  const { hostname, port } = new URL(endpoint);
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { hostname, port, method: raw.method ?? 'GET', path: raw.target, headers: raw.headers, agent: false },
      (response) => {
        const finish = (body: Buffer) =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body,
            code: /<Code>(\w+)</.exec(body.toString())?.[1],
          });
        buffer(response).then(finish, reject);
      },
    );
    request.on('error', reject);
    request.end(raw.body);
  });
}

export type Wanted = Partial<Omit<ToSign, 'path'>> & {
  path: string;
  body?: Uint8Array | string;
  who?: Partial<Who>;
  /** Sent without being signed. */
  unsigned?: Record<string, string>;
};

/** A request signed by the independent signer. */
export function signed(endpoint: string, wanted: Wanted): Raw & { signature: string; at: Date } {
  const body = wanted.body ?? '';
  const at = wanted.at ?? new Date();
  const length = Buffer.byteLength(body) > 0 ? { 'content-length': String(Buffer.byteLength(body)) } : {};
  const { target, headers, signature } = signHeaders(
    {
      method: wanted.method ?? 'GET',
      path: wanted.path,
      query: wanted.query ?? {},
      at,
      headers: { host: new URL(endpoint).host, ...length, ...wanted.headers },
      payload: wanted.payload ?? sha256(body),
    },
    { ...owner, region: REGION, service: 's3', ...wanted.who },
  );
  return {
    method: wanted.method ?? 'GET',
    target,
    body,
    signature,
    at,
    headers: { ...headers, ...wanted.unsigned },
  };
}

/** The name and status of the error of an SDK call. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'none',
    (error: unknown) => {
      if (!(error instanceof Error)) return String(error);
      const metadata: unknown = '$metadata' in error ? error.$metadata : undefined;
      const hasStatus = typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata;
      return hasStatus
        ? `${error.name} ${String(metadata.httpStatusCode)}`
        : `${error.name}: ${error.message}`;
    },
  );
}

/** Bytes that differ under any compression or repetition. */
export const bytes = (count: number) => randomBytes(count);
