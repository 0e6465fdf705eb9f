import { constants } from 'node:fs';
import { access, mkdtemp, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { counted, durationInWords, grouped } from '../../kernel/duration.ts';
import { messageOf, UsageError } from '../../kernel/errors.ts';
import { diskReason } from '../../kernel/files/disk-reason.ts';
import { ifExists } from '../../kernel/files/regular-file.ts';
import { isLoopbackHost } from '../../kernel/network/localhost.ts';
import { isExempt, isNeverProxied, proxyForScheme, proxyLabel } from '../../kernel/network/proxy.ts';
import { guardsInWords, policyInWords } from '../../settings/guards/guards.ts';
import type { Settings } from '../../settings/resolve.ts';
import { type DoctorFinding, failed, ok, skipped, warning } from './check.ts';
import type { DoctorContext } from './doctor-context.ts';
import { checkOldState } from './old-state.ts';
import { checkBaseUrl, checkKey, checkService, skipService } from './service-checks.ts';

/** Checks everything that commands depend on and yields the findings. Changes nothing. */
export async function* runChecks(context: DoctorContext): AsyncGenerator<DoctorFinding, void, undefined> {
  yield checkNode(context);
  yield await checkPermissions(context);
  const settings = await readSettings(context);
  yield settings.finding;
  yield await checkGuards(context, settings.value);
  yield await checkState(context);
  yield await checkOldState(context.stateDir);
  if (settings.value === undefined) {
    const why = 'the settings are invalid';
    for (const name of ['base-url', 'proxy', 'key']) yield skipped(name, why);
    yield* [...skipService(why), skipped('index', why), skipped('bucket', why)];
    return;
  }
  yield* checkConnection(context, settings.value);
  yield await checkIndex(context);
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
      'An administrator has to fix the file. It must be valid JSON with only known keys, be owned by root, and not be writable by anyone else.',
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
}

async function checkIndex(context: DoctorContext): Promise<DoctorFinding> {
  const name = 'index';
  try {
    const index = await context.index();
    if (index === undefined) return skipped(name, 'it needs a base URL and a key');
    if (index === 'off') return ok(name, 'none is kept');
    const { envelopes, bytes, completeAt, file } = index;
    const age =
      completeAt === undefined
        ? 'not complete yet'
        : `updated ${durationInWords(Math.max(0, context.now() - completeAt))} ago`;
    return ok(
      name,
      `${counted(envelopes, 'envelope')}, ${grouped(Math.ceil(bytes / 1_000))} kB, ${age}, ${file}`,
    );
  } catch (error) {
    return warning(name, messageOf(error), 'The next `esign find` rebuilds it.');
  }
}

async function checkStorage(
  context: DoctorContext,
  { storage, timeoutMs }: Settings,
): Promise<DoctorFinding> {
  const name = 'bucket';
  if (storage.bucket === undefined)
    return skipped(name, 'not configured; set it with `esign profiles edit NAME --bucket BUCKET`');
  try {
    const { signal } = context;
    const readable = await context.checkBucket(storage, { timeoutMs: timeoutMs.value, signal });
    if (readable === 'yes') return ok(name, `${storage.bucket} is reachable, and files can be read`);
    return warning(
      name,
      `${storage.bucket} is reachable, but it is unknown whether the key can read files`,
      'The key needs s3:GetObject. With s3:ListBucket, esign can distinguish missing files from forbidden ones.',
    );
  } catch (error) {
    if (context.signal.aborted) throw error;
    return failed(name, error);
  }
}

const MIN_NODE_VERSION = [20, 19] as const;

/** Checks that the version of Node is supported. */
export function checkNode({ nodeVersion }: DoctorContext): DoctorFinding {
  const [major = 0, minor = 0] = nodeVersion.replace(/^v/, '').split('.').map(Number);
  const [leastMajor, leastMinor] = MIN_NODE_VERSION;
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return ok('node', nodeVersion);
  return failed(
    'node',
    new UsageError(`Node ${nodeVersion} is too old.`),
    `Install Node ${leastMajor}.${leastMinor} or newer.`,
  );
}

/** Checks that no other user can read the stored keys. */
async function checkPermissions({ configDir, storeFile, platform }: DoctorContext): Promise<DoctorFinding> {
  const name = 'config';
  const [folder, file] = await Promise.all([modeOf(configDir), modeOf(storeFile)]);
  if (folder === undefined) return skipped(name, `${configDir} does not exist yet`);
  if (platform === 'win32') return skipped(name, 'not checked on Windows');
  if (file !== undefined && (file & 0o077) !== 0)
    return failed(
      name,
      new UsageError(`Other users can read or change ${storeFile} (mode ${octal(file)}).`),
      `Run \`chmod 600 '${storeFile}'\`, and create a new API key if other people use this machine.`,
    );
  if ((folder & 0o077) !== 0)
    return warning(
      name,
      `other users can open ${configDir} (mode ${octal(folder)})`,
      `chmod 700 '${configDir}'`,
    );
  return ok(name, `${configDir} is readable only by you`);
}

async function modeOf(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found && found.mode & 0o777;
}

function octal(mode: number): string {
  return `0${mode.toString(8)}`;
}

/** Checks that journals and sandbox data can be written. */
async function checkState({ stateDir }: DoctorContext): Promise<DoctorFinding> {
  try {
    await tryWriting(stateDir);
    return ok('state', `${stateDir} is writable`);
  } catch (error) {
    return failed(
      'state',
      new UsageError(`Can't write to ${stateDir} (${diskReason(error)}).`, { cause: error }),
      'Fix its permissions, or use a different folder with ESIGN_STATE_DIR=/path.',
    );
  }
}

/** Checks that a folder is writable. A missing folder is not created, only checked for whether it could be. */
async function tryWriting(folder: string): Promise<void> {
  const found = await ifExists(stat(folder));
  if (found === undefined) {
    const above = dirname(folder);
    const isFolder = (await stat(above).catch(() => undefined))?.isDirectory();
    return isFolder ? access(above, constants.W_OK | constants.X_OK) : tryWriting(above);
  }
  await rm(await mkdtemp(join(folder, '.doctor-')), { recursive: true });
}

/** Reports which proxy, if any, is used for requests to this address. */
export function checkProxy({ env }: DoctorContext, baseUrl: URL | undefined): DoctorFinding {
  const name = 'proxy';
  const { protocol, hostname, host } = baseUrl ?? new URL('https://x');
  try {
    const proxy = proxyForScheme(env, protocol);
    if (proxy === undefined) return ok(name, `none${otherScheme(env, protocol)}`);
    const shown = proxyLabel(proxy);
    if (baseUrl === undefined) return ok(name, shown);
    if (isNeverProxied(baseUrl)) return ok(name, `none for ${host}, which is on this machine`);
    if (isExempt(env, baseUrl)) return ok(name, `${shown}, not for ${host} (NO_PROXY)`);
    if (isLoopbackHost(hostname))
      return warning(
        name,
        `${shown} is used for an address on this machine`,
        `Exclude it with NO_PROXY=${hostname}.`,
      );
    return ok(name, shown);
  } catch (error) {
    return baseUrl !== undefined && isExempt(env, baseUrl)
      ? ok(name, `none for ${host} (${isNeverProxied(baseUrl) ? 'this machine' : 'NO_PROXY'})`)
      : failed(name, error);
  }
}

/** Returns a note about a proxy for the other scheme, which users may expect to be used. */
function otherScheme(env: DoctorContext['env'], protocol: string): string {
  const other = protocol === 'https:' ? 'http' : 'https';
  const variable = [`${other}_proxy`, `${other}_proxy`.toUpperCase()].find((one) => env[one]);
  return variable === undefined ? '' : ` (${variable} applies to ${other}:// only)`;
}
