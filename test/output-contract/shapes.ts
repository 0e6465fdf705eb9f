import * as z from 'zod/mini';
import { envelopeSchema, signerSchema, templateFieldSchema, templateSchema } from '../../src/api/schemas.ts';
import { SIGNER_STATES } from '../../src/bulk/status/signer-states.ts';
import { EFFECTS } from '../../src/kernel/command-effects.ts';

/*
 * The --json output of each command. The service's own resources have the shapes that the client reads; the others are
 * defined here. contract/output/ is generated from this file: edit it, then run `npm run contract:update`.
 */
const text = z.string();
const maybe = z.nullable(z.string());
const count = z.int();

const field = templateFieldSchema;
const signer = signerSchema;
const envelope = envelopeSchema;
const template = templateSchema;

const outcome = z.enum(['none', 'done', 'unknown']);
const errorReport = z.object({
  code: text,
  message: text,
  status: z.nullable(count),
  details: z.nullable(z.record(z.string(), z.array(text))),
  hint: maybe,
  next: z.array(text),
  outcome: z.nullable(outcome),
  exitCode: count,
  run: z.optional(text),
});
const error = z.object({ error: errorReport });
const envelopeResult = z.union([
  z.object({ id: text, ok: z.literal(true), envelope }),
  z.object({ id: text, ok: z.literal(true), skipped: text }),
  z.object({ id: text, ok: z.literal(false), error: errorReport }),
]);
const envelopeDryRun = z.object({
  dryRun: z.literal(true),
  action: z.enum(['send', 'cancel', 'remind']),
  id: text,
  /** Nothing needs to be done. */
  skipped: z.optional(text),
  /** It isn't possible. */
  error: z.optional(errorReport),
});
const change = z.union([
  z.object({ at: text, envelopeId: text, from: maybe, to: text, signer: maybe, envelope }),
  z.object({
    at: text,
    envelopeId: text,
    from: maybe,
    to: z.null(),
    signer: z.null(),
    envelope: z.null(),
    error: errorReport,
  }),
]);

const brief = { code: text, message: text };
const seal = z.object({
  state: z.enum(['intact', 'changed', 'unsigned', 'unreadable']),
  coverage: z.nullable(z.enum(['whole', 'extended'])),
  sealedBytes: z.nullable(count),
  addedBytes: z.nullable(count),
  subject: maybe,
  issuer: maybe,
  fingerprint: maybe,
  time: maybe,
  reason: maybe,
  others: z.array(
    z.object({
      kind: z.enum(['signature', 'timestamp', 'unknown']),
      end: count,
      state: z.literal('not checked'),
    }),
  ),
  trust: z.nullable(z.enum(['pinned', 'trusted', 'unknown', 'other'])),
});
const file = z.object({
  envelopeId: maybe,
  what: maybe,
  key: maybe,
  path: maybe,
  bytes: z.nullable(count),
  sha256: maybe,
  status: z.enum(['downloaded', 'unchanged', 'failed']),
  proof: z.nullable(z.enum(['checksum', 'etag', 'seal', 'size'])),
  seal: z.nullable(seal),
  problem: z.nullable(z.object(brief)),
  error: z.nullable(z.object(brief)),
});
const verified = z.object({
  path: maybe,
  sha256: maybe,
  list: z.enum(['ok', 'changed', 'missing', 'unlisted']),
  seal: z.nullable(seal),
  error: z.nullable(z.object(brief)),
});
const evidence = z.object({
  envelopeId: text,
  status: maybe,
  dir: text,
  page: text,
  documents: z.array(file),
  missing: z.array(z.object({ what: text, why: text })),
  webhooks: count,
  reminders: count,
  log: count,
  files: z.array(z.object({ path: text, sha256: text })),
});
const link = z.object({ key: text, url: text, expiresAt: text });
const keyError = z.object({ key: text, error: errorReport });

const rowFacts = { ...brief, details: z.optional(z.nullable(z.record(z.string(), z.array(text)))) };
const rowError = z.nullable(z.object(rowFacts));
const row = z.object({
  run: maybe,
  row: count,
  line: z.nullable(count),
  requestId: maybe,
  ok: z.boolean(),
  envelopeId: maybe,
  status: maybe,
  error: z.nullable(z.object({ ...rowFacts, outcome })),
  changed: z.optional(z.array(z.enum(['name', 'message', 'expiry', 'signingOrder', 'webhookUrl']))),
  sameAs: z.optional(count),
});
const statusLine = z.object({
  row: z.nullable(count),
  line: z.nullable(count),
  requestId: maybe,
  envelopeId: maybe,
  envelopeStatus: maybe,
  state: z.enum(SIGNER_STATES),
  name: maybe,
  email: maybe,
  role: maybe,
  sentAt: maybe,
  signedAt: maybe,
  waitingSince: maybe,
  error: rowError,
  replacedBy: z.optional(text),
});
const run = {
  id: text,
  file: text,
  createdAt: text,
  state: z.enum(['running', 'interrupted', 'paused', 'finished', 'cancelled', 'continued']),
  total: count,
  done: count,
  failed: count,
  continuedBy: maybe,
};
const preview = z.object({
  dryRun: z.literal(true),
  file: text,
  rows: count,
  signers: count,
  people: count,
  emails: z.object({ now: count, later: count }),
  existing: count,
  send: z.boolean(),
  requests: count,
  first: z.object({ line: z.nullable(count), subject: maybe, message: maybe }),
  known: z.object({
    signed: z.object({ people: count, since: maybe }),
    open: z.object({ people: count, since: maybe }),
    domains: z.array(z.object({ line: z.nullable(count), email: text, similar: text })),
    moved: z.array(
      z.object({
        line: z.nullable(count),
        name: text,
        email: text,
        otherEmail: text,
        envelopeId: text,
        next: text,
      }),
    ),
  }),
});

const event = z.object({
  deliveryId: text,
  id: text,
  receivedAt: text,
  event: maybe,
  envelopeId: maybe,
  status: maybe,
  signer: maybe,
  verified: z.boolean(),
  duplicate: z.boolean(),
  reason: maybe,
  answer: count,
  headers: z.array(z.array(text)),
  bytes: count,
  body: z.optional(z.record(z.string(), z.unknown())),
  bodyBase64: z.optional(text),
});
const delivery = z.object({
  type: z.literal('delivery'),
  id: maybe,
  deliveryId: text,
  receivedAt: text,
  event: maybe,
  envelopeId: maybe,
  status: maybe,
  verified: z.boolean(),
  duplicate: z.boolean(),
  reason: maybe,
  body: z.optional(z.record(z.string(), z.unknown())),
  bodyBase64: z.optional(text),
});
const forward = z.object({
  type: z.literal('forward'),
  id: text,
  event: maybe,
  envelopeId: maybe,
  url: text,
  attempt: count,
  status: z.nullable(count),
  ms: z.number(),
  error: maybe,
  nextMs: z.nullable(count),
});
const drillCheck = z.object({
  check: text,
  ok: z.boolean(),
  status: z.nullable(count),
  ms: z.number(),
  finding: maybe,
});
const listening = z.object({
  type: z.literal('ready'),
  url: text,
  verify: z.boolean(),
  inspectorUrl: z.optional(text),
  healthUrl: z.optional(text),
});
const warning = z.object({ type: z.literal('warning'), message: text });
const received = z.object({
  type: z.literal('summary'),
  received: count,
  verified: count,
  refused: count,
  duplicates: count,
});

const tunnel = z.object({ type: z.literal('tunnel'), url: text });
const listenFile = z.extend(z.object({ type: z.literal('file') }), file.shape);
const history = z.looseObject({
  id: text,
  history: z.array(
    z.object({
      at: text,
      receivedAt: text,
      event: maybe,
      status: maybe,
      signer: maybe,
      verified: z.boolean(),
      deliveryId: text,
    }),
  ),
});

const storage = z.object({
  bucket: maybe,
  region: maybe,
  endpoint: maybe,
  pathStyle: z.boolean(),
  awsProfile: maybe,
  accessKeyId: maybe,
});
const profile = z.object({
  name: text,
  current: z.boolean(),
  baseUrl: text,
  apiKey: maybe,
  apiKeyCommand: maybe,
  apiKeyIn: z.nullable(z.enum(['file', 'command'])),
  index: z.boolean(),
  pin: maybe,
  sealedPart: z.boolean(),
  guards: z.nullable(
    z.looseObject({
      readOnly: z.optional(z.boolean()),
      onlyTo: z.optional(z.array(text)),
      maxEmails: z.optional(count),
      confirmName: z.optional(z.boolean()),
    }),
  ),
  storage: z.nullable(storage),
});
const guard = <T extends z.ZodMiniType>(value: T) =>
  z.nullable(z.object({ value, source: z.enum(['profile', 'policy', 'profile and policy']) }));
const logEntry = z.object({
  id: text,
  at: text,
  user: text,
  profile: maybe,
  baseUrl: text,
  command: text,
  effect: z.enum(EFFECTS),
  envelopeIds: z.array(text),
  requestId: maybe,
  outcome: z.enum(['done', 'refused', 'unknown']),
  error: maybe,
  run: z.optional(text),
  counts: z.optional(z.record(z.string(), count)),
});
const sourced = z.object({ value: text, source: text });
const settings = z.object({
  file: text,
  profile: z.nullable(sourced),
  baseUrl: z.nullable(sourced),
  apiKey: z.nullable(z.object({ value: text, in: z.enum(['file', 'command', 'environment']), source: text })),
  timeoutMs: z.object({ value: count, source: text }),
  storage: z.nullable(z.extend(storage, { source: text })),
  pin: z.nullable(sourced),
  sealedPart: z.nullable(z.object({ value: z.literal(true), source: text })),
  index: z.nullable(z.object({ value: z.literal(false), source: text })),
  guards: z.object({
    readOnly: guard(z.literal(true)),
    onlyTo: guard(z.array(text)),
    maxEmails: guard(count),
    confirmName: guard(z.literal(true)),
    policy: z.nullable(z.object({ path: text, problem: maybe })),
  }),
});
const lateSigner = z.object({
  envelopeId: text,
  signer: z.object({ id: maybe, name: maybe, email: maybe, role: maybe }),
  since: text,
  waitingMs: count,
  usual: z.object({
    percentileMs: count,
    basis: z.enum(['template', 'account', 'default', 'fixed']),
    samples: count,
  }),
  opened: z.nullable(z.literal(true)),
  remindedAt: maybe,
  expiresAt: maybe,
  next: text,
});
const spread = z.object({
  samples: count,
  medianMs: z.nullable(count),
  p85Ms: z.nullable(count),
  p95Ms: z.nullable(count),
});
const figures = z.object({
  sent: count,
  completed: count,
  declined: count,
  expired: count,
  cancelled: count,
  open: count,
  completionRate: z.nullable(z.number()),
  toComplete: spread,
  turn: spread,
  declineReasons: z.array(z.object({ reason: maybe, count })),
  sentThisMonth: count,
});
const attention = z.object({
  count,
  envelopes: z.array(z.object({ id: text, subject: maybe, people: z.array(text), at: maybe })),
  next: text,
});
const report = z.extend(figures, {
  attention: z.object({ declined: attention, expiring: attention, overdue: attention, drafts: attention }),
  since: maybe,
  until: text,
  groups: z.array(z.extend(figures, { key: maybe, name: maybe })),
});
const doctor = z.object({
  ok: z.boolean(),
  checks: z.array(
    z.object({
      name: text,
      status: z.enum(['ok', 'warning', 'failed', 'skipped']),
      message: text,
      fix: maybe,
    }),
  ),
});
const seededKey = z.object({
  id: text,
  organisation: text,
  key: text,
  scopes: z.array(text),
  expiresAt: maybe,
});
const seeded = z.object({
  templates: count,
  envelopes: count,
  keys: z.array(seededKey),
});
const sandboxMail = z.object({
  id: text,
  at: text,
  kind: text,
  envelopeId: text,
  signerId: maybe,
  to: text,
  subject: text,
  text,
  link: maybe,
});
const sandbox = z.object({
  type: z.literal('ready'),
  baseUrl: text,
  apiKey: text,
  endpoint: text,
  bucket: text,
  region: text,
  accessKeyId: text,
  secretAccessKey: text,
  dashboardUrl: text,
  orgId: text,
  dataDir: text,
  keys: z.optional(z.array(seededKey)),
});
const demo = z.object({
  folder: text,
  envelopeId: text,
  status: text,
  signers: z.array(text),
  webhooks: z.object({ received: count, verified: count, events: z.array(text) }),
  files: z.array(z.object({ what: text, path: text, bytes: count, sha256: text })),
  seconds: z.number(),
});

/** Shared shapes, each in a separate file that the others refer to. */
export const SHARED: Readonly<Record<string, z.ZodMiniType>> = {
  envelope,
  signer,
  template,
  'template-field': field,
  error,
  'error-report': errorReport,
  'envelope-result': envelopeResult,
  change,
  'dry-run': envelopeDryRun,
  file,
  forward,
  'key-error': keyError,
  link,
  row,
  seal,
  event,
  profile,
};

/** One value, or one per line. */
export interface Shape {
  form: 'value' | 'lines';
  schema: z.ZodMiniType;
  /** When it is printed; always if undefined. */
  when?: string;
}

const value = (schema: z.ZodMiniType, when?: string): Shape => ({
  form: 'value',
  schema,
  ...(when ? { when } : {}),
});
const lines = (schema: z.ZodMiniType, when?: string): Shape => ({
  form: 'lines',
  schema,
  ...(when ? { when } : {}),
});
/** The lists that people export accept --fields, which keeps only the requested properties of each item. */
const fields = () => value(z.array(z.record(z.string(), z.unknown())), '--fields');
const eachEnvelope = { one: value(envelope, 'one id'), several: lines(envelopeResult, 'several ids, or -') };
const actionOnEach = { ...eachEnvelope, dryRun: lines(envelopeDryRun, '--dry-run') };

/** By command, then by a name for the case. */
export const SHAPES: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  api: {
    reply: value(z.unknown(), "the service's response"),
    dryRun: value(
      z.object({ dryRun: z.literal(true), method: text, url: text, body: z.unknown() }),
      '--dry-run',
    ),
  },
  autocomplete: { script: value(z.object({ shell: text, install: text, script: text })) },
  'bulk:create': { rows: lines(row), dryRun: value(preview, '--dry-run') },
  'bulk:export': { rows: value(z.array(row)) },
  'bulk:list': { list: value(z.array(z.object(run))) },
  'bulk:roster': {
    lines: value(
      z.array(
        z.object({
          row: count,
          line: count,
          templateId: text,
          email: text,
          name: maybe,
          role: maybe,
          replacedBy: maybe,
          state: z.enum(['signed', 'waiting', 'declined', 'expired', 'cancelled', 'never']),
          envelopeId: maybe,
          signedAt: maybe,
        }),
      ),
    ),
    fields: fields(),
  },
  'bulk:resume': {
    rows: lines(row, 'the rows that this command processed'),
    dryRun: value(
      z.object({
        dryRun: z.literal(true),
        run: text,
        file: text,
        rows: count,
        signers: count,
        people: count,
        emails: z.object({ now: count, later: count }),
        send: z.boolean(),
        requests: count,
      }),
      '--dry-run',
    ),
  },
  'bulk:status': { signers: value(z.array(statusLine)), fields: fields() },
  'bulk:template': { path: value(z.object({ path: text })) },
  demo: { end: value(demo) },
  doctor: { report: value(doctor) },
  'documents:download': { files: lines(file) },
  'documents:link': {
    one: value(link, 'one key'),
    several: lines(z.union([link, keyError]), 'several keys, or -'),
  },
  'documents:verify': { files: lines(verified) },
  'envelopes:cancel': actionOnEach,
  'envelopes:create': {
    created: value(envelope),
    dryRun: value(
      z.object({ dryRun: z.literal(true), body: z.record(z.string(), z.unknown()) }),
      '--dry-run',
    ),
  },
  'envelopes:download': { files: lines(file) },
  'envelopes:evidence': { evidence: value(evidence) },
  'envelopes:get': { ...eachEnvelope, history: value(history, '--history: the envelope with its history') },
  'envelopes:list': { list: value(z.array(envelope)), fields: fields() },
  'envelopes:remind': actionOnEach,
  'envelopes:replace': {
    replaced: value(z.object({ old: envelope, new: envelope })),
    dryRun: value(
      z.object({
        dryRun: z.literal(true),
        action: z.literal('replace'),
        id: text,
        steps: z.array(z.enum(['make', 'cancel', 'send'])),
        old: envelope,
        new: z.nullable(envelope),
        body: z.record(z.string(), z.unknown()),
      }),
      '--dry-run',
    ),
  },
  'envelopes:send': actionOnEach,
  'envelopes:watch': { changes: lines(change) },
  'events:drill': {
    checks: lines(drillCheck),
    dryRun: lines(z.object({ dryRun: z.literal(true), action: z.literal('check'), id: text }), '--dry-run'),
  },
  'events:list': { list: value(z.array(event)), fields: fields() },
  'events:replay': { forwards: lines(forward), dryRun: lines(envelopeDryRun, '--dry-run') },
  'events:show': { event: value(event) },
  'events:trigger': { forwards: lines(forward), dryRun: lines(envelopeDryRun, '--dry-run') },
  find: { list: value(z.array(envelope)), fields: fields() },
  late: { list: value(z.array(lateSigner)), fields: fields() },
  listen: {
    lines: lines(z.union([listening, delivery, forward, listenFile, warning, tunnel, received])),
  },
  log: { list: value(z.array(logEntry)) },
  mcp: { messages: lines(z.looseObject({ jsonrpc: z.literal('2.0') }), 'MCP messages') },
  'profiles:add': { profile: value(profile) },
  'profiles:edit': { profile: value(profile) },
  'profiles:list': { list: value(z.array(profile)) },
  'profiles:remove': {
    profile: value(profile, 'what was removed'),
    dryRun: value(z.object({ dryRun: z.literal(true), action: z.literal('remove'), id: text }), '--dry-run'),
  },
  'profiles:show': { settings: value(settings) },
  'profiles:use': { profile: value(profile) },
  report: {
    report: value(report),
    attention: value(
      z.array(z.extend(attention, { kind: z.enum(['declined', 'expiring', 'overdue', 'drafts']) })),
      '--attention',
    ),
  },
  'sandbox:advance': { now: value(z.object({ now: text })) },
  'sandbox:decline': { envelope: value(envelope) },
  'sandbox:exec': { command: value(z.unknown(), "the command's output") },
  'sandbox:mails': { list: value(z.array(sandboxMail)) },
  'sandbox:reset': {
    done: value(z.object({ reset: z.literal(true) })),
    dryRun: value(z.object({ dryRun: z.literal(true), action: z.literal('reset'), id: text }), '--dry-run'),
  },
  'sandbox:seed': { result: value(seeded) },
  'sandbox:sign': { envelope: value(envelope) },
  'sandbox:start': { ready: lines(sandbox, 'one line when the sandbox is ready') },
  'sandbox:view': { envelope: value(envelope) },
  'templates:get': { template: value(template) },
  'templates:list': { list: value(z.array(template)) },
};
