import type { Clock } from '../kernel/clock.ts';
import { accountOf } from '../kernel/digest.ts';
import { type EnvelopesApi, envelopesApi } from './envelopes.ts';
import { createHttp, type HttpOptions, isRead, type SendRequest } from './http.ts';
import { RateWindow } from './rate/rate-window.ts';
import { WindowFile } from './rate/window-file.ts';
import { type RetryOptions, withRetries } from './retry.ts';
import type { Envelope, Template } from './schemas.ts';
import { ServiceClock } from './service-clock.ts';
import type { FindSimilarIds } from './subject.ts';
import { type TemplatesApi, templatesApi } from './templates.ts';
import { type Clearance, type OpenGate, openGate, type PlannedWrite, type WriteGate } from './write-gate.ts';

export interface ClientOptions extends Omit<HttpOptions, 'window'> {
  random?: (() => number) | undefined;
  retries?: number | undefined;
  /** The longest wait for a rate window, in ms. */
  maxWaitMs?: number | undefined;
  /** Folder in which the processes on this machine share the state of the rate window; without it, requests are not paced. */
  windowFolder?: string | undefined;
  /** The share of the rate window, 0 to 1, that is left for others. */
  reserve?: number | undefined;
  onWait?: RetryOptions['onWait'];
  /** Finds existing IDs that are similar to a missing one. Without it, errors show only the missing ID. */
  findSimilarIds?: FindSimilarIds | undefined;
  /** Receives every envelope and template that the methods return. `alone`: the envelope was requested by its ID. */
  onEnvelope?: ((seen: Envelope, alone: boolean) => void) | undefined;
  onTemplate?: ((seen: Template) => void) | undefined;
  /** Loads the gate that every write passes, at the first write. Without it, all writes are sent. */
  gate?: (() => Promise<OpenGate>) | undefined;
}

/** A client for the service, with a typed method for each of the eight routes in the API document. */
export interface Client {
  /** Identifies the account (base URL and key) in local files without revealing the key. */
  account: string;
  templates: TemplatesApi;
  envelopes: EnvelopesApi;
  /** Sends any request, with the retry policy. Writes pass the gate. */
  send: SendRequest;
  writes: () => Promise<WriteGate>;
  /** Checks the writes of a command before the first is sent (`WriteGate.check`). */
  checkWrites: (planned: readonly PlannedWrite[]) => Promise<Clearance>;
  clock: Clock;
  /** The service's time. */
  serviceClock: ServiceClock;
  /** How long to wait for the response to a write after its signal has aborted, in ms. */
  graceMs: number;
  /** The rate window; undefined if requests are not paced. */
  window: RateWindow | undefined;
}

/** The default of `maxWaitMs`. */
const MAX_WAIT_MS = 60_000;
const MAX_RETRIES = 5;

/** Creates a client for one key at one base URL. */
export function createClient(options: ClientOptions): Client {
  const window = windowFor(options);
  const serviceClock = options.serviceClock ?? new ServiceClock(options.clock);
  const sendNow = withRetries(createHttp({ ...options, serviceClock, window }), {
    clock: options.clock,
    random: options.random ?? Math.random,
    retries: options.retries ?? MAX_RETRIES,
    maxWaitMs: options.maxWaitMs ?? MAX_WAIT_MS,
    onWait: options.onWait,
  });
  let gate: WriteGate | undefined;
  const writes = async () => {
    gate ??= ((await options.gate?.()) ?? openGate)(sendNow);
    return gate;
  };
  const send: SendRequest = async (request) =>
    isRead(request.method) ? sendNow(request) : (await writes()).pass(request);
  const checkWrites: Client['checkWrites'] = async (planned) => (await writes()).check(planned);
  const { clock, graceMs = 0, findSimilarIds } = options;
  const templates = templatesApi(send, findSimilarIds, options.onTemplate);
  const envelopes = envelopesApi(send, findSimilarIds, options.onEnvelope);
  const account = accountOf(options.baseUrl, options.apiKey);
  return { account, templates, envelopes, send, writes, checkWrites, clock, serviceClock, graceMs, window };
}

function windowFor(options: ClientOptions): RateWindow | undefined {
  if (options.windowFolder === undefined) return undefined;
  return new RateWindow({
    clock: options.clock,
    counter: new WindowFile(options.windowFolder, options.baseUrl, options.apiKey),
    reserve: options.reserve ?? 0,
    maxWaitMs: options.maxWaitMs ?? MAX_WAIT_MS,
    onWait: options.onWait,
  });
}
