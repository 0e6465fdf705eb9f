import { readDuration } from '../kernel/duration-input.ts';
import { WaitTimeoutError } from '../kernel/errors.ts';
import { waitExpired } from '../kernel/wait-expired.ts';
import { asSandboxError, closedError } from './embed-errors.ts';
import type { RunningSandbox, SandboxDuration } from './embed-model.ts';
import { readSeed } from './index.ts';
import { ApiError } from './service/base/errors.ts';
import type { ControlPlane } from './service/control/control-plane.ts';

type Actions = Omit<
  RunningSandbox,
  'baseUrl' | 'apiKey' | 'dashboardUrl' | 'bucket' | 'keys' | 'close' | typeof Symbol.asyncDispose
>;

/** The visitor for signatures that don't come from a browser. */
const NO_BROWSER = { ip: null, userAgent: null };

/** Returns the methods of a sandbox. After `closing` aborts, all of them reject with CLOSED. */
export function actionsOf(control: ControlPlane, closing: AbortSignal): Actions {
  const call = callsUntil(closing);
  return {
    sign: (id, request = {}) => call(() => control.sign(id, request, NO_BROWSER)),
    view: (id, { signer } = {}) => call(() => control.view(id, signer)),
    decline: (id, { signer, reason } = {}) => call(() => control.decline(id, signer, reason)),
    advance: (time) => call(() => control.advance(msOf(time))),
    envelopes: () => call(() => control.envelopes()),
    envelope: (id) => call(() => control.envelope(id)),
    mails: ({ to, envelope, wait } = {}) =>
      call(async () => {
        const waitMs = wait === undefined ? 0 : msOf(wait);
        const found = await control.mails({ to, envelopeId: envelope }, waitMs, closing);
        if (found.length > 0 || wait === undefined) return found;
        throw new WaitTimeoutError(waitExpired('email', waitMs, { to, envelope }));
      }),
    deliveries: ({ envelope, event, wait } = {}) =>
      call(async () => {
        const waitMs = wait === undefined ? 0 : msOf(wait);
        const found = await control.deliveries({ envelopeId: envelope, event }, waitMs, closing);
        if (wait === undefined || found.some(({ attempts }) => attempts.length > 0)) return found;
        throw new WaitTimeoutError(waitExpired('webhook', waitMs, { event, envelope }));
      }),
    seed: (source) =>
      call(async () => {
        const seed = await readSeed(source);
        try {
          return await control.seed(seed);
        } catch (error) {
          throw error instanceof ApiError && error.details ? seed.mistakes(error.details) : error;
        }
      }),
    faults: (wanted) => call(() => control.faults(wanted)),
    choices: (wanted) =>
      call(() => Object.fromEntries(control.choices(wanted).map(({ name, value }) => [name, value]))),
    snapshot: (name) => call(async () => (await control.saveSnapshot(name)).name),
    restore: (name) =>
      call(async () => {
        await control.restoreSnapshot(name);
      }),
    reset: () => call(() => control.reset()),
  };
}

/**
 * Returns a function that runs an action unless the sandbox is closed. An action that fails because the sandbox closes in the meantime also
 * rejects with CLOSED.
 */
function callsUntil(closing: AbortSignal) {
  const isClosed = () => closing.aborted;
  return async <T>(action: () => T | Promise<T>): Promise<T> => {
    if (isClosed()) throw closedError();
    try {
      return await action();
    } catch (error) {
      throw isClosed() ? closedError(error) : asSandboxError(error);
    }
  };
}

function msOf(time: SandboxDuration): number {
  if (typeof time === 'number' && Number.isFinite(time) && time >= 0) return Math.round(time);
  return readDuration(String(time));
}
