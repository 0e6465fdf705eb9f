import { constants } from 'node:fs';
import { access, mkdtemp, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { diskReason } from '../kernel/disk-reason.ts';
import { codeOf, UsageError } from '../kernel/errors.ts';
import { type Finding, failed, ok, skipped, warning } from './check.ts';
import type { Patient } from './context.ts';

const LEAST_NODE = [20, 19] as const;

/** Node is one this tool is made for. */
export function checkNode({ nodeVersion }: Patient): Finding {
  const [major = 0, minor = 0] = nodeVersion.replace(/^v/, '').split('.').map(Number);
  const [leastMajor, leastMinor] = LEAST_NODE;
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return ok('node', nodeVersion);
  return failed(
    'node',
    new UsageError(`Node ${nodeVersion} is too old.`),
    `Install Node ${leastMajor}.${leastMinor} or newer.`,
  );
}

/** Nobody else on this machine can read the stored keys. */
export async function checkPermissions({ configDir, storeFile, platform }: Patient): Promise<Finding> {
  const name = 'config';
  const [folder, file] = await Promise.all([modeOf(configDir), modeOf(storeFile)]);
  if (folder === undefined) return skipped(name, `nothing is stored in ${configDir}`);
  if (platform === 'win32') return skipped(name, 'Windows keeps permissions in another way');
  if (file !== undefined && (file & 0o077) !== 0)
    return failed(
      name,
      new UsageError(`Others can read or change ${storeFile} (mode ${octal(file)}).`),
      `chmod 600 '${storeFile}', and make a new key if others use this machine.`,
    );
  if ((folder & 0o077) !== 0)
    return warning(
      name,
      `others can look into ${configDir} (mode ${octal(folder)})`,
      `chmod 700 '${configDir}'`,
    );
  return ok(name, `${configDir} is for you alone`);
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

/** Journals and the sandbox's data can be written. */
export async function checkState({ stateDir }: Patient): Promise<Finding> {
  try {
    await tryWriting(stateDir);
    return ok('state', `${stateDir} can be written`);
  } catch (error) {
    return failed(
      'state',
      new UsageError(`Can't write in ${stateDir} (${diskReason(error)}).`, { cause: error }),
      'Mend its permissions, or name another folder: ESIGN_STATE_DIR=/path.',
    );
  }
}

/** A folder that is not there yet is left so: it is enough that it could be made. */
async function tryWriting(folder: string): Promise<void> {
  const found = await stat(folder).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
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

/** Which proxy the requests to this address go through. */
export function checkProxy({ env }: Patient, baseUrl: URL | undefined): Finding {
  const name = 'proxy';
  const variable = baseUrl?.protocol === 'http:' ? 'HTTP_PROXY' : 'HTTPS_PROXY';
  const address = env[variable] || env[variable.toLowerCase()];
  if (!address) return ok(name, 'none');
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    return failed(
      name,
      new UsageError(`${variable} is not the address of an HTTP proxy.`),
      'Write it like http://proxy.example:3128, or unset it.',
    );
  const shown = `${new URL(address).origin} (${variable})`;
  if (baseUrl === undefined) return ok(name, shown);
  if (bypasses(env.NO_PROXY || env.no_proxy || '', baseUrl.hostname))
    return ok(name, `${shown}, not for ${baseUrl.hostname} (NO_PROXY)`);
  if (/^(localhost|127\.|\[::1\])/.test(baseUrl.hostname))
    return warning(
      name,
      `${shown} is asked for an address of this machine`,
      `NO_PROXY=${baseUrl.hostname} leaves it out.`,
    );
  return ok(name, shown);
}

function bypasses(list: string, host: string): boolean {
  return list.split(/[\s,]+/).some((entry) => {
    const name = entry
      .replace(/:\d+$/, '')
      .replace(/^\*?\./, '')
      .toLowerCase();
    return name === '*' || (name !== '' && (host === name || host.endsWith(`.${name}`)));
  });
}
