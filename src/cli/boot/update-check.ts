import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { createConnections } from '../../api/dispatcher.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import { isRecord, parseJson } from '../../kernel/json.ts';
import { childEnvironment } from '../../kernel/process/child-environment.ts';
import { readBounded } from '../../kernel/streams.ts';
import { isVersion, readRecord, recordPath, writeRecord } from '../../update/record.ts';

/**
 * Runs `esign __update`, a background process that asks the npm registry for the latest version and stores it for the next run.
 * It reports no errors. The next attempt is a day later.
 */
export async function main(): Promise<void> {
  try {
    const registry = await configuredRegistry();
    if (registry === undefined) return;
    const latest = await latestVersion(registry, 'esign-cli');
    const path = recordPath(stateDir());
    writeRecord(path, { ...readRecord(path), latest });
  } catch {
    // Without a network, registry, or disk, no notice is shown.
  }
}

/** The time limit for connecting, for the first byte, and for the whole response, each. */
const TIMEOUT_MS = 5_000;
/** npm itself takes a moment to start. */
const NPM_TIMEOUT_MS = 20_000;
const MAX_BYTES = 256 * 1024;

/** Returns the registry that npm is configured to use, regardless of the current folder; undefined without npm. */
function configuredRegistry(): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = {
      cwd: homedir(),
      env: childEnvironment(),
      timeout: NPM_TIMEOUT_MS,
      shell: process.platform === 'win32',
      windowsHide: true,
    };
    execFile('npm', ['config', 'get', 'registry'], options, (error, stdout) => {
      const address = String(stdout).trim();
      resolve(!error && /^https?:\/\//.test(address) ? address : undefined);
    });
  });
}

/**
 * Returns the latest version of the package in the registry. @throws if it can't be reached in time or returns anything else.
 */
async function latestVersion(registry: string, name: string): Promise<string> {
  const url = new URL(`${name}/latest`, registry.replace(/\/*$/, '/'));
  const { dispatcher } = createConnections(url, TIMEOUT_MS);
  const { statusCode, body } = await dispatcher.request({
    origin: url.origin,
    path: url.pathname,
    method: 'GET',
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = (await readBounded(body, MAX_BYTES)).toString('utf8');
  if (statusCode !== 200) throw new Error(`the registry responded with ${statusCode}`);
  const read = parseJson(text);
  if (!isRecord(read) || typeof read.version !== 'string' || !isVersion(read.version)) {
    throw new Error('the registry returned no version');
  }
  return read.version;
}
