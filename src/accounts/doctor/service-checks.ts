import { readRateLimit } from '../../api/rate-headers.ts';
import type { RawResponse } from '../../api/response.ts';
import { counted, durationInWords, grouped } from '../../kernel/duration.ts';
import { NoProfileError, ServiceError } from '../../kernel/errors.ts';
import { isLoopbackHost } from '../../kernel/network/localhost.ts';
import { maskKey } from '../../kernel/redaction.ts';
import { isSandbox } from '../../settings/account-in-words.ts';
import type { Settings } from '../../settings/resolve.ts';
import { verifyKey } from '../../settings/verify-key.ts';
import { type DoctorFinding, failed, ok, skipped, warning } from './check.ts';
import type { DoctorContext } from './doctor-context.ts';
import { checkLists } from './service-list-check.ts';

const ADD = 'Add a profile: `esign profiles add`, or try `esign sandbox start`.';
/** The share of the rate limit below which it is reported as almost reached. */
const LOW_QUOTA = 0.1;
const NOTABLE_SKEW_MS = 60_000;
/** The difference from which buckets reject signatures. */
const HARMFUL_SKEW_MS = 15 * 60_000;

/** Checks that a key may be sent to the address. */
export function checkBaseUrl({ baseUrl, profileName }: Settings): DoctorFinding {
  const name = 'base-url';
  if (baseUrl === undefined) return failed(name, new NoProfileError('No base URL is set.'), ADD);
  const from = baseUrl.source === 'profile' ? `profile ${profileName?.value ?? ''}` : baseUrl.source;
  const shown = `${baseUrl.value} (${from})`;
  const url = new URL(baseUrl.value);
  if (url.protocol === 'https:') return ok(name, shown);
  if (isLoopbackHost(url.hostname)) return ok(name, `${shown}, on this machine`);
  return warning(name, `${shown}: the key is sent unencrypted`, 'Use https:// if the service supports it.');
}

/** Checks the key and its source. Runs the profile's key command, if any. */
export async function checkKey(
  context: DoctorContext,
  { apiKey, profileName }: Settings,
): Promise<DoctorFinding> {
  const name = 'key';
  if (apiKey === undefined) return failed(name, new NoProfileError('No API key is set.'), ADD);
  const from = apiKey.source === 'profile' ? `profile ${profileName?.value ?? ''}` : apiKey.source;
  try {
    await context.client();
  } catch (error) {
    return failed(name, error);
  }
  const words = { key: maskKey(apiKey.value), command: 'from a command' };
  return ok(name, `${words[apiKey.kind]} (${from})`);
}

interface Probe {
  response: RawResponse | undefined;
  error: unknown;
  askedAt: number;
  respondedAt: number;
}

/** Checks the service, key, scopes, clock, and rate limit with a single request, and what lists show with another one. */
export async function checkService(context: DoctorContext, settings: Settings): Promise<DoctorFinding[]> {
  const probe = await ask(context);
  const lists =
    probe.error === undefined
      ? await checkLists(await context.client(), context.signal)
      : skipped('lists', 'templates could not be read');
  return [
    ...checkAccess(probe),
    checkClock(probe, isSandbox(settings, context.env) || isServedBySandbox(probe)),
    checkRate(probe),
    lists,
  ];
}

/** Returns the same checks as skipped. */
export function skipService(why: string): DoctorFinding[] {
  return ['service', 'key-accepted', 'scopes', 'clock', 'rate-limit', 'lists'].map((name) =>
    skipped(name, why),
  );
}

async function ask({ client, now, signal }: DoctorContext): Promise<Probe> {
  const probed = await client();
  const probe: Probe = { response: undefined, error: undefined, askedAt: now(), respondedAt: now() };
  const onResponse = (response: RawResponse) => {
    probe.response = response;
    probe.respondedAt = now();
  };
  try {
    await verifyKey({ ...probed, send: (request) => probed.send({ ...request, onResponse }) }, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    probe.error = error;
  }
  return probe;
}

const NO_RESPONSE = 'the service did not respond';

function checkAccess({
  response,
  error,
  askedAt,
  respondedAt,
}: Probe): [DoctorFinding, DoctorFinding, DoctorFinding] {
  const responds = ok('service', `responds in ${respondedAt - askedAt} ms`);
  if (error === undefined)
    return [responds, ok('key-accepted', 'yes'), ok('scopes', 'read: yes; write: not checked')];
  const code = error instanceof ServiceError ? error.code : '';
  if (code === 'UNAUTHORIZED') {
    const fix =
      'The key is wrong, revoked, or expired. Create a new one, then run `esign profiles edit NAME --api-key-file -`.';
    return [responds, failed('key-accepted', error, fix), skipped('scopes', 'the key is not accepted')];
  }
  if (code === 'FORBIDDEN') {
    const fix =
      'The key needs the esign:read scope, and the organization needs a bucket and a plan with API access.';
    return [responds, ok('key-accepted', 'yes'), failed('scopes', error, fix)];
  }
  if (code === 'RATE_LIMITED') {
    const why = 'the rate limit is used up';
    return [responds, skipped('key-accepted', why), skipped('scopes', why)];
  }
  const why = response === undefined ? NO_RESPONSE : 'the service returned an unexpected response';
  return [failed('service', error), skipped('key-accepted', why), skipped('scopes', why)];
}

/** Returns true if the response is that of a sandbox, which may be known only by its address and key. */
function isServedBySandbox({ response }: Probe): boolean {
  return response?.headers.server === 'esign-sandbox';
}

/**
 * Compares this machine's clock with the Date header of the response, which has whole seconds and some latency. A sandbox's clock
 * is exempt, because it can be moved.
 */
function checkClock({ response, askedAt, respondedAt }: Probe, exempt: boolean): DoctorFinding {
  const name = 'clock';
  if (response === undefined) return skipped(name, NO_RESPONSE);
  const header = response.headers.date;
  const date = typeof header === 'string' ? Date.parse(header) : Number.NaN;
  if (Number.isNaN(date)) return skipped(name, 'the response has no date');
  const ahead = askedAt - (date + 1_000);
  const behind = date - respondedAt;
  const off = Math.max(0, ahead, behind);
  if (off < NOTABLE_SKEW_MS) return ok(name, 'agrees with the service');
  const distance = durationInWords(off);
  if (exempt)
    return ok(
      name,
      `the sandbox is ${distance} ${ahead > behind ? 'behind' : 'ahead'}; ages and filters use its clock`,
    );
  const message = `this machine is ${distance} ${ahead > behind ? 'ahead of' : 'behind'} the service`;
  const fix = 'Set the clock, preferably with NTP: `timedatectl set-ntp true`.';
  if (off < HARMFUL_SKEW_MS) return warning(name, message, fix);
  return failed(name, new Error(`${message}, so buckets reject its requests`), fix);
}

function checkRate({ response, error, respondedAt }: Probe): DoctorFinding {
  const name = 'rate-limit';
  if (error instanceof ServiceError && error.code === 'RATE_LIMITED')
    return failed(name, error, 'Wait for the rate limit to reset, or send fewer requests.');
  if (response === undefined) return skipped(name, NO_RESPONSE);
  const { remaining, limit, resetAt } = readRateLimit(response.headers, respondedAt);
  if (remaining === undefined) return skipped(name, 'the response has no rate limit');
  const reset =
    resetAt === undefined ? '' : `, resets in ${durationInWords(Math.max(0, resetAt - respondedAt))}`;
  const message = `${counted(remaining, 'request')} of ${limit === undefined ? '?' : grouped(limit)} left${reset}`;
  if (limit !== undefined && remaining < limit * LOW_QUOTA)
    return warning(name, message, 'Other programs share this limit. Wait until it resets.');
  return ok(name, message);
}
