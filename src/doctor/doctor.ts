import { guardsInWords, policyInWords } from '../guards/guards.ts';
import { counted } from '../kernel/duration.ts';
import { UsageError } from '../kernel/errors.ts';
import type { Settings } from '../profiles/resolve.ts';
import { type DoctorFinding, failed, ok, skipped, warning } from './check.ts';
import type { DoctorContext } from './context.ts';
import { checkNode, checkPermissions, checkProxy, checkState } from './machine.ts';
import { checkBaseUrl, checkKey, checkService, skipService } from './service.ts';

/** Checks everything that commands depend on and yields the findings. Changes nothing. */
export async function* runChecks(context: DoctorContext): AsyncGenerator<DoctorFinding, void, undefined> {
  yield checkNode(context);
  yield await checkPermissions(context);
  const settings = await readSettings(context);
  yield settings.finding;
  yield await checkGuards(context, settings.value);
  yield await checkState(context);
  if (settings.value === undefined) {
    const why = 'the settings are invalid';
    for (const name of ['base-url', 'proxy', 'key']) yield skipped(name, why);
    yield* [...skipService(why), skipped('bucket', why)];
    return;
  }
  yield* checkConnection(context, settings.value);
  yield await checkStorage(context, settings.value);
}

async function readSettings(
  context: DoctorContext,
): Promise<{ finding: DoctorFinding; value: Settings | undefined }> {
  try {
    const value = await context.settings();
    const { profileName } = value;
    const message =
      profileName === undefined ? 'no profile in use' : `${profileName.value} (${profileName.source})`;
    return { finding: ok('profile', message), value };
  } catch (error) {
    return { finding: failed('profile', error), value: undefined };
  }
}

/** Checks the guards of the profile, and whether the policy on this machine can be read. */
async function checkGuards(context: DoctorContext, settings: Settings | undefined): Promise<DoctorFinding> {
  const name = 'guards';
  if (settings === undefined) return skipped(name, 'the settings are invalid');
  const guards = await context.guards();
  const { policy } = guards;
  if (policy !== null && policy.problem !== null)
    return failed(
      name,
      new UsageError(`The policy ${policyInWords(policy)}.`),
      'An administrator has to fix the file. It must be valid JSON with only known keys, be owned by root (Administrators on Windows), and not be writable by anyone else.',
    );
  const all = guardsInWords(guards).map(([label, { text, source }]) => `${label}: ${text} (${source})`);
  return ok(name, all.join('; ') || 'none');
}

async function* checkConnection(context: DoctorContext, settings: Settings): AsyncGenerator<DoctorFinding> {
  const baseUrl = checkBaseUrl(settings);
  const proxy = checkProxy(context, settings.baseUrl && new URL(settings.baseUrl.value));
  const passable = baseUrl.error === undefined && proxy.error === undefined;
  const key = passable
    ? await checkKey(context, settings)
    : skipped('key', 'the base URL or the proxy has a problem');
  yield* [baseUrl, proxy, key];
  const why = 'it needs a valid base URL and key';
  yield* passable && key.error === undefined ? await checkService(context, settings) : skipService(why);
  yield* await checkCompatibility(context);
}

/**
 * Reports contradictions with the API document that commands, including this one, found in the service's responses. Without
 * contradictions, returns an empty list.
 */
async function checkCompatibility(context: DoctorContext): Promise<DoctorFinding[]> {
  const count = await context.contradictions();
  if (count === 0) return [];
  const message = `${counted(count, 'contradiction')} with the API document`;
  return [warning('compatibility', message, 'To see the differences, run `esign compat`.')];
}

async function checkStorage(context: DoctorContext, { storage }: Settings): Promise<DoctorFinding> {
  const name = 'bucket';
  if (storage.bucket === undefined)
    return skipped(name, 'not configured; set it with `esign profiles edit NAME --bucket BUCKET`');
  try {
    const readable = await context.checkBucket(storage, context.signal);
    if (readable === 'yes') return ok(name, `${storage.bucket} is reachable, and files can be read`);
    return warning(
      name,
      `${storage.bucket} is reachable, but it is unknown whether the key can read files`,
      'The key needs s3:GetObject. With s3:ListBucket, esign can tell missing files from forbidden ones.',
    );
  } catch (error) {
    if (context.signal.aborted) throw error;
    return failed(name, error);
  }
}
