import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Clock } from '../../kernel/clock.ts';
import { diskReason } from '../../kernel/files/disk-reason.ts';
import { openPort, originOf } from '../../kernel/network/listening.ts';
import { LIMITS } from '../../kernel/vocabulary.ts';
import type { SeededKey } from '../embed-model.ts';
import { type DocumentMaker, HOST, type ObjectWriter } from '../model.ts';
import { SandboxRateWindow } from './api/rate-window.ts';
import { rulesFromChoices } from './base/choices.ts';
import { SandboxClock } from './base/sandbox-clock.ts';
import type { ServiceParts } from './base/service-parts.ts';
import { ControlPlane } from './control/control-plane.ts';
import { DocumentStore } from './engine/document-store.ts';
import { Engine } from './engine/engine.ts';
import { monthlyQuota } from './engine/quota.ts';
import { respondWithFaults } from './faults/fault-responses.ts';
import { Faults } from './faults/faults.ts';
import type { CheckedSeed } from './seed/schema.ts';
import { loadSeed } from './seed/seeder.ts';
import { CountedIds } from './store/counted-ids.ts';
import { openDefaultKey, type RandomId } from './store/keys.ts';
import { type ReportFailure, Store } from './store/store.ts';
import { webApp } from './web-app.ts';
import { WebhookSender } from './webhooks/sender.ts';

export interface ServiceOptions {
  /** The folder for the state, created if missing. */
  dataDir: string;
  /** The port; 0 selects a free one. */
  port: number;
  /** The number of requests per window and key. Default: 10,000 per 15 minutes (API document, Limits). */
  rateLimit?: { requests: number; seconds: number } | undefined;
  /** The number of envelopes per calendar month and organization. Default: no limit. */
  quota?: number | undefined;
  documents: DocumentMaker;
  objects: ObjectWriter;
  clock: Clock;
  /** The start time of the sandbox's clock, in ms since the epoch. Default: the time of the last run. */
  startsAt?: number | undefined;
  /** Whether the sandbox's clock is stopped, except for `advance`. */
  isFrozen?: boolean | undefined;
  /** Whether IDs are numbered per kind instead of random. */
  hasCountedIds?: boolean | undefined;
  /** The initial data of a new sandbox, restored by a reset. Existing data in the folder is kept. */
  seed?: CheckedSeed | undefined;
  /** The key of the default organization. Default: that of the folder, or a random one. */
  apiKey?: string | undefined;
  /** The choices for ambiguities of the API document, name to value; see CHOICES. */
  choices?: Record<string, string> | undefined;
  /** The initial faults, as JSON; validated here. */
  faults?: unknown;
  /** Called with a line for each internal failure, with its cause. */
  onProblem?: ((line: string) => void) | undefined;
}

export interface Service {
  /** The origin without the path prefix, such as http://127.0.0.1:4010. */
  origin: string;
  orgId: string;
  /** The key of the default organization, with all permissions. */
  apiKey: string;
  /** The keys of the seed. */
  keys: SeededKey[];
  /** The control plane, without HTTP. */
  control: ControlPlane;
  /** Finishes pending requests, aborts webhooks, and writes everything to disk. */
  close(): Promise<void>;
}

/** How long pending requests may take once the service is closing, in ms. */
const CLOSE_TIMEOUT_MS = 3000;

/**
 * Starts the e-signature service of the API document on this machine. Rejects with a UsageError if the port can't be used, a choice or
 * fault is invalid, or another sandbox uses the folder.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { dataDir, documents, seed, startsAt } = options;
  const rules = rulesFromChoices(options.choices);
  const faults = new Faults(options.faults);
  const reportFailure: ReportFailure = (operation, error) =>
    options.onProblem?.(`${operation} failed: ${diskReason(error).replace(/\.$/, '')}.`);
  const store = await Store.open(dataDir, reportFailure);
  const random: RandomId = (bytes) => randomBytes(bytes).toString('hex');
  const counted = options.hasCountedIds ? new CountedIds(store.state, random) : undefined;
  const clock = new SandboxClock(options.clock, options);
  const server = createServer();
  const parts: ServiceParts = {
    store,
    clock,
    realClock: options.clock,
    startsAt,
    rules,
    faults,
    randomId: counted?.next ?? random,
    counted,
    documents,
    documentStore: new DocumentStore({ ...options, state: store.state, faults }),
    reserveQuota: monthlyQuota(store.state, options.quota),
    rates: new SandboxRateWindow(options.rateLimit ?? LIMITS.rate),
    reportFailure,
    origin: () => originOf(server, HOST),
  };
  const sender = new WebhookSender(parts);
  const engine = new Engine({ ...parts, sender });
  const closing = new AbortController();
  const end = once(() => close(server, { store, engine, sender, closing }));
  try {
    clock.offsetMs = startOfClock(store, clock, startsAt);
    seedTemplates(store, documents);
    const apiKey = await openDefaultKey(parts, dataDir, options.apiKey);
    const control = new ControlPlane({ ...parts, engine, apiKey, seed });
    const app = webApp({
      ...parts,
      engine,
      control,
      closing: closing.signal,
      objects: parts.documentStore,
    });
    const respond = getRequestListener(
      (request, env) =>
        respondWithFaults(request, env, {
          faults,
          clock: options.clock,
          closing: closing.signal,
          answer: () => app.fetch(request, env),
        }),
      { overrideGlobalObjects: false },
    );
    server.on('request', (request, response) => {
      response.setHeader('Date', new Date(clock.now()).toUTCString());
      response.setHeader('Server', 'esign-sandbox');
      void respond(request, response);
    });
    await openPort(server, { host: HOST, port: options.port, flag: '--port', what: 'start the sandbox' });
    // Emails contain the server's address, so it must be known first. Data of an earlier run is kept.
    const seeded =
      seed === undefined ? undefined : loadSeed(seed, { ...parts, apiKey }, { missingOnly: true });
    await engine.start();
    // A sandbox that was ready has its key and its seed after a kill, too.
    await store.flush();
    const { orgId } = store.state;
    return { origin: parts.origin(), orgId, apiKey, keys: seeded?.keys ?? [], control, close: end };
  } catch (error) {
    await end();
    throw error;
  }
}

function seedTemplates(store: Store, documents: DocumentMaker): void {
  if (store.state.templates.size > 0) return;
  store.commit(documents.templates().map((value) => ({ kind: 'template', value })));
}

/** Returns the initial offset of the sandbox's clock from the machine's, in ms. */
function startOfClock(store: Store, clock: SandboxClock, startsAt?: number): number {
  const offset = startsAt === undefined ? clock.offsetOf(store.state.clock) : clock.offsetFor(startsAt);
  store.commit([{ kind: 'clock', ...clock.recordOf(offset) }]);
  return offset;
}

async function close(
  server: Server,
  parts: {
    store: Store;
    engine: Engine;
    sender: WebhookSender;
    closing: AbortController;
  },
): Promise<void> {
  const { store, engine, sender, closing } = parts;
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const force = setTimeout(() => {
    closing.abort();
    server.closeAllConnections();
  }, CLOSE_TIMEOUT_MS);
  await closed;
  closing.abort();
  clearTimeout(force);
  engine.close();
  await sender.close();
  await store.close();
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}
