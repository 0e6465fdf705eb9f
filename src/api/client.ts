import type { Clock } from '../kernel/clock.ts';
import { accountOf } from '../kernel/digest.ts';
import { createHttp, type HttpOptions, isRead, type SendRequest } from './http.ts';
import { withApiCheck } from './no-api.ts';
import { RateWindow } from './rate-window.ts';
import { MAX_RATE_WAIT_MS, MAX_RETRIES } from './request-defaults.ts';
import { createResources, type ResourceOptions, type Resources } from './resources.ts';
import { type RetryOptions, withRetries } from './retries.ts';
import { ServiceClock } from './service-clock.ts';
import {
  type OpenGate,
  openGate,
  type PlannedWrite,
  type WriteGate,
  type WritePermit,
} from './write-gate.ts';

export interface ClientOptions extends Omit<HttpOptions, 'window'>, ResourceOptions {
  random?: (() => number) | undefined;
  retries?: number | undefined;
  /** The longest wait for a rate window, in ms. */
  maxWaitMs?: number | undefined;
  /** Delays requests that would exceed the rate window. */
  isPaced?: boolean | undefined;
  /** The share of the rate window, 0 to 1, that is left for others. */
  reserve?: number | undefined;
  onWait?: RetryOptions['onWait'];
  /** Loads the gate that every write passes, at the first write. Without it, all writes are sent. */
  gate?: (() => Promise<OpenGate>) | undefined;
}

/** A client for the service, with a typed method for each of the eight routes in the API document. */
export interface Client extends Resources {
  baseUrl: string;
  /** Names the account of the key at the base URL (`accountOf`). */
  account: string;
  /** The time limit of a request, in ms. */
  timeoutMs: number;
  /** Sends any request, with the retry policy. Writes pass the gate. */
  send: SendRequest;
  writes: () => Promise<WriteGate>;
  /** Checks the writes of a command before the first is sent (`WriteGate.check`). */
  checkWrites: (planned: readonly PlannedWrite[]) => Promise<WritePermit>;
  clock: Clock;
  /** The service's time. */
  serviceClock: ServiceClock;
  /** How long to wait for the response to a write after its signal has aborted, in ms. */
  graceMs: number;
  /** The rate window; undefined if requests are not paced. */
  window: RateWindow | undefined;
}

export function createClient(options: ClientOptions): Client {
  const { baseUrl, clock, graceMs = 0, timeoutMs } = options;
  const account = accountOf(baseUrl, options.apiKey);
  const window = windowFor(options);
  const serviceClock = options.serviceClock ?? new ServiceClock(options.clock);
  const retrying = withRetries(createHttp({ ...options, serviceClock, window }), {
    clock: options.clock,
    random: options.random ?? Math.random,
    retries: options.retries ?? MAX_RETRIES,
    maxWaitMs: options.maxWaitMs ?? MAX_RATE_WAIT_MS,
    onWait: options.onWait,
  });
  const sendNow = withApiCheck(retrying, options.baseUrl);
  let gate: WriteGate | undefined;
  const writes = async () => {
    gate ??= ((await options.gate?.()) ?? openGate)(sendNow, account);
    return gate;
  };
  const send: SendRequest = async (request) =>
    isRead(request.method) ? sendNow(request) : (await writes()).pass(request);
  const checkWrites: Client['checkWrites'] = async (planned) => (await writes()).check(planned);
  const resources = createResources(send, options);
  return {
    baseUrl,
    account,
    timeoutMs,
    ...resources,
    send,
    writes,
    checkWrites,
    clock,
    serviceClock,
    graceMs,
    window,
  };
}

function windowFor(options: ClientOptions): RateWindow | undefined {
  if (!options.isPaced) return undefined;
  return new RateWindow({
    clock: options.clock,
    random: options.random ?? Math.random,
    reserve: options.reserve ?? 0,
    maxWaitMs: options.maxWaitMs ?? MAX_RATE_WAIT_MS,
    onWait: options.onWait,
  });
}
