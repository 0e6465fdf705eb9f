import { constants } from 'node:fs';
import { access, mkdtemp, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UsageError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { ifExists } from '../kernel/files/regular-file.ts';
import { isExempt, proxyForScheme, proxyLabel } from '../kernel/network/proxy.ts';
import { type DoctorFinding, failed, ok, skipped, warning } from './check.ts';
import type { DoctorContext } from './context.ts';

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
export async function checkPermissions({
  configDir,
  storeFile,
  platform,
}: DoctorContext): Promise<DoctorFinding> {
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
  try {
    return (await stat(path)).mode & 0o777;
  } catch {
    return undefined;
  }
}

function octal(mode: number): string {
  return `0${mode.toString(8)}`;
}

/** Checks that journals and sandbox data can be written. */
export async function checkState({ stateDir }: DoctorContext): Promise<DoctorFinding> {
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
    if (
      await stat(above).then(
        (one) => one.isDirectory(),
        () => false,
      )
    )
      return access(above, constants.W_OK | constants.X_OK);
    return tryWriting(above);
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
    if (isExempt(env, baseUrl)) return ok(name, `${shown}, not for ${host} (NO_PROXY)`);
    if (/^(localhost|127\.|\[::1\])/.test(hostname))
      return warning(
        name,
        `${shown} is used for an address on this machine`,
        `Exclude it with NO_PROXY=${hostname}.`,
      );
    return ok(name, shown);
  } catch (error) {
    return baseUrl !== undefined && isExempt(env, baseUrl)
      ? ok(name, `none for ${host} (NO_PROXY)`)
      : failed(name, error);
  }
}

/** Returns a note about a proxy for the other scheme, which users may expect to be used. */
function otherScheme(env: DoctorContext['env'], protocol: string): string {
  const other = protocol === 'https:' ? 'http' : 'https';
  const variable = [`${other}_proxy`, `${other}_proxy`.toUpperCase()].find((one) => env[one]);
  return variable === undefined ? '' : ` (${variable} applies to ${other}:// only)`;
}
