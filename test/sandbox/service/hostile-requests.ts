import { ada, bob, lease, twoSigners } from './rig.ts';

/** A stream of numbers from a seed, with helpers for a generator of requests. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** mulberry32, from 0 to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(from: readonly [T, ...T[]]): T {
    return from[this.below(from.length)] ?? from[0];
  }

  hex(bytes: number): string {
    return Array.from({ length: bytes }, () => this.below(256).toString(16).padStart(2, '0')).join('');
  }
}

/** The generator's knowledge of the service. */
export interface Target {
  apiKey: string;
  /** Keys with restricted permissions. */
  otherKeys: readonly string[];
  envelopeIds: readonly string[];
}

export interface HostileRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
}

const STRINGS = [
  '',
  ' ',
  '\0',
  '\ud800',
  '\u202e\u0007\u001b[2J',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  "'; DROP TABLE envelopes; --",
  '<script>alert(1)</script>',
  '%00%0d%0a',
  '😀'.repeat(50),
  'x'.repeat(300),
  'DRAFT',
  'sent',
  '2026-13-45',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'http://[',
] as const;

const VALUES: readonly [unknown, ...unknown[]] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  [],
  {},
  [[]],
  [null],
  { length: 3 },
  { toString: 1 },
  Array(21).fill(ada),
  ...STRINGS,
];

const CREATIONS: readonly [object, ...object[]] = [
  twoSigners,
  { ...twoSigners, sendImmediately: true },
  {
    templateId: lease.id,
    signers: [
      { ...ada, role: 'Tenant', order: 1 },
      { ...bob, role: 'Landlord', order: 2 },
    ],
    subject: 'Your lease',
    message: 'Please sign',
    metadata: { customer: 4711, list: [1, { deep: true }] },
    webhookSecret: 'correct horse battery staple',
    expiresInDays: 14,
    signingOrder: 'SEQUENTIAL',
    sendImmediately: true,
  },
];

const ACTIONS: readonly [object, ...object[]] = [
  {},
  { reason: 'The flat is taken' },
  { signerId: 'signer_1' },
  { values: { tenant_sig: 'Ada', tenant_agrees: true } },
  { signer: ada.email },
  { all: true },
];

const fitting = (path: string) => (/envelopes(\?|$)/.test(path) ? CREATIONS : ACTIONS);

/** The existing routes; creation is more frequent than the others. */
const ROUTES = [
  'GET /api/v1/esign/templates',
  'GET /api/v1/esign/templates/tmpl_lease',
  'GET /api/v1/esign/templates/{id}',
  'GET /api/v1/esign/envelopes',
  'POST /api/v1/esign/envelopes',
  'POST /api/v1/esign/envelopes',
  'POST /api/v1/esign/envelopes',
  'GET /api/v1/esign/envelopes/{id}',
  'POST /api/v1/esign/envelopes/{id}/send',
  'POST /api/v1/esign/envelopes/{id}/cancel',
  'POST /api/v1/esign/envelopes/{id}/remind',
  'POST /__sandbox/envelopes/{id}/sign',
  'POST /__sandbox/envelopes/{id}/view',
  'POST /__sandbox/envelopes/{id}/decline',
  'GET /__sandbox/deliveries?envelopeId={id}',
  'GET /openapi.yaml',
  'GET /',
] as const;

const METHODS = ['GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

const TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'APPLICATION/JSON',
  'text/plain',
  'multipart/form-data; boundary=x',
  ';',
] as const;

/** The next request of the stream: mostly close to a valid one, since others are refused immediately. */
export function hostileRequest(dice: Dice, target: Target): HostileRequest {
  const [right = '', route = ''] = dice.pick(ROUTES).split(' ');
  const method = dice.chance(0.85) ? right : dice.pick(METHODS);
  const path = hostilePath(dice, route, target);
  const body = method === 'GET' || method === 'HEAD' ? undefined : hostileBody(dice, path);
  const headers: Record<string, string> = {};
  const key = hostileKey(dice, target);
  if (key !== undefined) headers.authorization = key;
  if (body && dice.chance(0.97)) headers['content-type'] = dice.chance(0.93) ? TYPES[0] : dice.pick(TYPES);
  if (dice.chance(0.02)) headers[`x-${dice.hex(4)}`] = 'y'.repeat(dice.below(4000));
  return { method, path, headers, body };
}

function hostilePath(dice: Dice, route: string, { envelopeIds }: Target): string {
  const known = envelopeIds[dice.below(envelopeIds.length)] ?? 'env_none';
  const id = dice.chance(0.85) ? known : encodeURIComponent(dice.pick(STRINGS).replaceAll('\ud800', ''));
  let path = route.replace('{id}', id);
  if (dice.chance(0.25)) path += `${path.includes('?') ? '&' : '?'}${hostileQuery(dice)}`;
  if (!dice.chance(0.05)) return path;
  const at = 1 + dice.below(path.length);
  const piece = dice.pick(['/', '//', '%', '%2f', '%ff', '..', '.', ';', '?', 'A', '0', '%00', '\\']);
  return path.slice(0, at) + piece + path.slice(at + dice.below(2));
}

function hostileQuery(dice: Dice): string {
  const name = dice.pick(['page', 'pageSize', 'status', '__proto__', 'page[]']);
  const value = dice.pick([
    '1',
    '2',
    '100',
    '101',
    '0',
    '-1',
    '1e3',
    'DRAFT',
    'SENT',
    '',
    '%ff',
    '9'.repeat(40),
  ]);
  return dice.chance(0.3) ? `${name}=${value}&${name}=${value}&x` : `${name}=${value}`;
}

function hostileKey(dice: Dice, { apiKey, otherKeys }: Target): string | undefined {
  if (dice.chance(0.88)) return `Bearer ${apiKey}`;
  return dice.pick<string | undefined>([
    undefined,
    '',
    'Bearer',
    `Bearer ${apiKey}x`,
    `Basic ${apiKey}`,
    `Bearer ${apiKey} ${apiKey}`,
    ...otherKeys.map((key) => `Bearer ${key}`),
  ]);
}

function hostileBody(dice: Dice, path: string): Buffer | undefined {
  const kind = dice.next();
  if (kind < 0.08) return undefined;
  if (kind < 0.09) return Buffer.from(dice.hex(dice.below(200)), 'hex');
  if (kind < 0.091) return Buffer.alloc(2 ** 20 + dice.below(2 ** 16), 'x');
  if (kind < 0.1) return Buffer.from(dice.pick(['[', '{"metadata":{"a":', '"']).repeat(1 + dice.below(3000)));
  let value: unknown = structuredClone(dice.pick(dice.chance(0.9) ? fitting(path) : CREATIONS));
  for (let changes = dice.chance(0.35) ? 0 : 1 + dice.below(3); changes > 0; changes -= 1)
    value = changed(dice, value);
  let text = JSON.stringify(value);
  if (dice.chance(0.05)) text = text.replace('{', '{"__proto__":{"polluted":true},');
  const bytes = Buffer.from(text);
  if (!dice.chance(0.1)) return bytes;
  if (dice.chance(0.3)) return bytes.subarray(0, dice.below(bytes.length));
  bytes[dice.below(bytes.length)] = dice.below(256);
  return bytes;
}

/** The same value with one part replaced, removed, or added. */
function changed(dice: Dice, value: unknown): unknown {
  if (dice.chance(0.15) || typeof value !== 'object' || value === null) return dice.pick(VALUES);
  const entries: [string, unknown][] = Object.entries(value);
  const at = dice.below(entries.length + 1);
  const entry = entries[at];
  if (!entry) entries.push([dice.pick(STRINGS), dice.pick(VALUES)]);
  else if (dice.chance(0.2)) entries.splice(at, 1);
  else entries[at] = [entry[0], changed(dice, entry[1])];
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}

/** The request as bytes of HTTP/1.1 that may be damaged: wrong framing, a flipped byte, a missing end. */
export function damagedBytes(dice: Dice, request: HostileRequest): Buffer {
  const body = request.body ?? Buffer.alloc(0);
  const framing = dice.pick([
    `Content-Length: ${body.length}`,
    `Content-Length: ${body.length}\r\nContent-Length: ${body.length + 1}`,
    `Content-Length: ${Math.max(0, body.length - 1)}`,
    `Content-Length: ${body.length + 10}`,
    'Content-Length: -1',
    'Content-Length: 99999999999999999999',
    'Transfer-Encoding: chunked',
    `Transfer-Encoding: chunked\r\nContent-Length: ${body.length}`,
    'Transfer-Encoding: gzip',
    'Expect: 100-continue',
    'Upgrade: websocket\r\nConnection: upgrade',
  ]);
  const version = dice.pick(['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/9.9', '']);
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`${request.method} ${request.path} ${version}`, 'Host: localhost', ...headers, framing];
  const bytes = Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
  if (dice.chance(0.3)) bytes[dice.below(bytes.length)] = dice.below(256);
  return dice.chance(0.2) ? bytes.subarray(0, dice.below(bytes.length)) : bytes;
}
