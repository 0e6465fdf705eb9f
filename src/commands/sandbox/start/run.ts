import { join } from 'node:path';
import { isLoopback } from '../../../api/base-url.ts';
import type { Context } from '../../../cli/context.ts';
import { readJsonObject } from '../../../cli/input/files.ts';
import { readPairs } from '../../../cli/input/pairs.ts';
import { untilAborted } from '../../../cli/interrupt.ts';
import type { CommandTerminal } from '../../../cli/terminal.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { configDir, stateDir } from '../../../kernel/files/paths.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../kernel/files/temporary-folder.ts';
import { preferLowMemory } from '../../../kernel/process/v8-flags.ts';
import { writeJsonLine } from '../../../output/json.ts';
import { putProfile, removeProfile } from '../../../profiles/edit.ts';
import type { Profile } from '../../../profiles/profile.ts';
import { updateProfiles } from '../../../profiles/update-store.ts';
import type { Sandbox, Seed } from '../../../sandbox/index.ts';
import { standInsOf } from '../like.ts';
import { type RepeatableFlags, repeatableOptions } from '../repeatable.ts';
import { readSeedFile } from '../seed-file.ts';
import { renderSandbox } from '../views.ts';

interface SandboxFlags extends RepeatableFlags {
  port: number;
  'bucket-port'?: number | undefined;
  host: string;
  data?: string | undefined;
  ephemeral: boolean;
  'rate-limit'?: { requests: number; seconds: number } | undefined;
  quota?: number | undefined;
  choice?: string[] | undefined;
  choices?: string | undefined;
  faults?: string | undefined;
  seed?: string | undefined;
  like?: string | undefined;
  'save-profile': boolean;
}

const PROFILE = 'sandbox';

/** Runs a sandbox until a signal is received. */
export async function runSandbox(flags: SandboxFlags, context: Context): Promise<void> {
  const { startSandbox } = await import('../../../sandbox/index.ts');
  const choices = { ...(await choicesIn(flags.choices)), ...readPairs(flags.choice, 'choice') };
  const repeatable = await repeatableOptions(flags);
  const faults = flags.faults === undefined ? undefined : await readJsonObject(flags.faults, 'faults');
  const { like } = flags;
  const seed = await initialSeed(flags, context);
  const temporary = flags.ephemeral ? await temporaryFolder('esign-sandbox-') : undefined;
  const folder = dataFolder(flags, temporary);
  let sandbox: Sandbox | undefined;
  try {
    const options = {
      dataDir: folder,
      host: flags.host,
      port: flags.port,
      bucketPort: flags['bucket-port'],
      rateLimit: flags['rate-limit'],
      quota: flags.quota,
      choices,
      ...repeatable,
      faults,
      seed,
      hasBuiltInTemplates: like === undefined,
      onProblem: (line: string) => context.terminal.notice(line),
    };
    sandbox = await context.terminal.waiting('Starting the sandbox', () => startSandbox(options));
    // Called only now, because reading a large state would take twice as long.
    preferLowMemory();
    const saved = flags['save-profile'] ? await saveProfile(sandbox, flags.ephemeral) : undefined;
    await announce(sandbox, { current: saved?.current, host: flags.host }, context.terminal);
    await untilAborted(context.interrupt.signal);
    if (saved && flags.ephemeral) await dropProfile(sandbox, saved.before);
  } finally {
    await sandbox?.close();
    await temporary?.remove();
  }
  if (!context.terminal.json)
    context.terminal.notice(
      flags.ephemeral ? 'Stopped. The state was deleted.' : `Stopped. The state is stored in ${folder}.`,
    );
}

async function initialSeed({ like, seed }: SandboxFlags, context: Context): Promise<Seed | undefined> {
  if (like === undefined) return seed === undefined ? undefined : readSeedFile(seed, context.terminal);
  const { readSeed } = await import('../../../sandbox/index.ts');
  return readSeed({ templates: await standInsOf(like, context) });
}

/** Reads the choices in a file: an object of names and values. */
async function choicesIn(file: string | undefined): Promise<Record<string, string>> {
  if (file === undefined) return {};
  const entries = Object.entries(await readJsonObject(file, 'choices'));
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (typeof value === 'string') return [name, value];
      throw new UsageError(`The value of ${name} in ${file} is not a string.`, {
        hint: 'Example: {"list-items":"summary"}. To write such a file, run `esign compat --choices FILE`.',
      });
    }),
  );
}

function dataFolder({ data, port }: SandboxFlags, temporary: TemporaryFolder | undefined): string {
  // Each port has its own folder, so that two sandboxes never share one.
  return temporary?.path ?? data ?? join(stateDir(), 'sandbox', String(port));
}

interface Saved {
  /** The name of the current profile. */
  current: string | undefined;
  /** The profile that was replaced, if it is still valid. */
  before: Profile | undefined;
}

async function saveProfile(sandbox: Sandbox, ephemeral: boolean): Promise<Saved> {
  const { baseUrl, apiKey, bucket, region, endpoint, accessKeyId, secretAccessKey } = sandbox;
  const storage = { bucket, region, endpoint, pathStyle: true, accessKeyId, secretAccessKey };
  let before: Profile | undefined;
  const { current } = await updateProfiles(configDir(), (profiles) => {
    before = profiles.profiles[PROFILE];
    const guards = before?.guards === undefined ? {} : { guards: before.guards };
    const own = { baseUrl, apiKey, storage, sandbox: true, ...guards };
    putProfile(profiles, PROFILE, { ...own, ...(ephemeral ? { ephemeral } : {}) });
  });
  return { current, before: before?.ephemeral ? undefined : before };
}

/** Removes the profile of an ephemeral sandbox, unless it now belongs to another sandbox. */
async function dropProfile({ apiKey }: Sandbox, before: Profile | undefined): Promise<void> {
  await updateProfiles(configDir(), (store) => {
    if (store.profiles[PROFILE]?.apiKey !== apiKey) return;
    if (before) store.profiles[PROFILE] = before;
    else removeProfile(store, PROFILE);
  });
}

async function announce(
  sandbox: Sandbox,
  facts: { current: string | undefined; host: string },
  terminal: CommandTerminal,
): Promise<void> {
  const { close: _close, control: _control, keys, ...ready } = sandbox;
  const bound = facts.host.includes(':') ? `[${facts.host}]` : facts.host;
  if (!isLoopback(new URL(`http://${bound}`))) {
    terminal.notice(`Bound to ${facts.host}: other machines on the network can reach this sandbox.`);
  }
  if (terminal.json)
    return writeJsonLine({ type: 'ready', ...ready, ...(keys.length > 0 ? { keys } : {}) }, terminal);
  terminal.err(renderSandbox(ready, facts.current, terminal));
}
