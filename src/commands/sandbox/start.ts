import { join } from 'node:path';
import * as Flags from '@oclif/core/flags';
import { isLoopback } from '../../api/base-url.ts';
import { EsignCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import {
  booleanFlag,
  inGroup,
  numberFlag,
  rateLimitFlag,
  repeatedTextFlag,
  textFlag,
} from '../../cli/flags.ts';
import { readJsonObject } from '../../cli/input/files.ts';
import { readPairs } from '../../cli/input/pairs.ts';
import { untilAborted } from '../../cli/interrupt.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { durationText } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import { configDir, stateDir } from '../../kernel/files/paths.ts';
import { temporaryFolder } from '../../kernel/files/temporary-folder.ts';
import { preferLowMemory } from '../../kernel/process/v8-flags.ts';
import { maskKey } from '../../kernel/redaction.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { LIMITS } from '../../kernel/vocabulary.ts';
import { writeJsonLine } from '../../output/json.ts';
import { renderPairs } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { putProfile, removeProfile } from '../../profiles/edit.ts';
import type { Profile } from '../../profiles/profile.ts';
import { updateProfiles } from '../../profiles/update-store.ts';
import type { Sandbox, Seed } from '../../sandbox/index.ts';
import { standInsOf } from './like.ts';
import { repeatableFlags, repeatableOptions } from './repeatable.ts';
import { readSeedFile } from './seed-file.ts';

export default class SandboxStart extends EsignCommand {
  static override summary = 'Run the complete e-signature service on this machine. No account needed.';
  static override description =
    'Runs the complete API, an S3-compatible bucket for the documents, webhooks, and its own clock, until you stop it. Adds a `sandbox` profile, which becomes the current one if you have none.';
  static override examples = [
    '<%= config.bin %> sandbox start',
    '<%= config.bin %> sandbox start --ephemeral --port 0 --json',
    '<%= config.bin %> sandbox start --data ./sandbox-data --rate-limit 40/3s',
    '<%= config.bin %> sandbox start --ephemeral --seed seed.yaml',
    '<%= config.bin %> sandbox start --ephemeral --like production',
  ];
  static override flags = {
    port: Flags.integer({
      description: 'API port; 0 for any free port',
      default: 4010,
      helpValue: 'N',
      min: 0,
      max: 65_535,
    }),
    'bucket-port': numberFlag('bucket port (default: --port plus 1000)', { min: 0, max: 65_535 }),
    host: Flags.string({ description: 'address to bind', default: '127.0.0.1', helpValue: 'ADDRESS' }),
    data: textFlag('DIR', 'folder to store the state in', { exclusive: ['ephemeral'] }),
    ephemeral: booleanFlag('delete everything on exit'),
    ...inGroup('SERVICE', {
      'rate-limit': rateLimitFlag({
        description: `requests per key and time window (default ${LIMITS.rate.requests}/${durationText(LIMITS.rate.seconds * 1_000)})`,
        helpValue: '40/3s',
      }),
      quota: numberFlag('envelopes per month (default: no limit)', { min: 0 }),
      choice: repeatedTextFlag(
        'NAME=VALUE',
        'behavior where the API document is ambiguous; can be repeated; see `sandbox choices`',
      ),
      choices: textFlag(
        'FILE',
        'JSON file with choices; --choice takes precedence; see `esign compat --choices`',
      ),
      faults: textFlag('FILE', 'JSON file with faults to inject; see `sandbox faults`', {
        aliases: ['fault'],
      }),
      seed: textFlag('FILE', 'YAML or JSON file with the initial data; see `sandbox seed`'),
      like: textFlag(
        'PROFILE',
        "start with stand-ins for the active templates of this profile's account (read-only)",
        { exclusive: ['seed'] },
      ),
    }),
    ...repeatableFlags,
    'save-profile': booleanFlag('add or update the `sandbox` profile', { default: true, allowNo: true }),
  };

  async run(): Promise<void> {
    const { flags, context, terminal } = await this.start(SandboxStart);
    const { startSandbox } = await import('../../sandbox/index.ts');
    const choices = { ...(await choicesIn(flags.choices)), ...readPairs(flags.choice, 'choice') };
    const repeatable = await repeatableOptions(flags);
    const faults = flags.faults === undefined ? undefined : await readJsonObject(flags.faults, 'faults');
    const seed = await initialSeed(flags, context);
    const temporary = flags.ephemeral ? await temporaryFolder('esign-sandbox-') : undefined;
    // Each port has its own folder, so that two sandboxes never share one.
    const folder = temporary?.path ?? flags.data ?? join(stateDir(), 'sandbox', String(flags.port));
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
        hasBuiltInTemplates: flags.like === undefined,
        onProblem: (line: string) => terminal.notice(line),
      };
      sandbox = await terminal.waiting('Starting the sandbox', () => startSandbox(options));
      // Called only now, because reading a large state would take twice as long.
      preferLowMemory();
      const saved = flags['save-profile'] ? await saveProfile(sandbox, flags.ephemeral) : undefined;
      await announce(sandbox, { saved, host: flags.host }, terminal);
      await untilAborted(context.interrupt.signal);
      if (saved && flags.ephemeral) await dropProfile(sandbox, saved.before);
    } finally {
      await sandbox?.close();
      await temporary?.remove();
    }
    if (!terminal.json)
      terminal.notice(
        flags.ephemeral ? 'Stopped. The state was deleted.' : `Stopped. The state is stored in ${folder}.`,
      );
  }
}

const PROFILE = 'sandbox';

async function initialSeed(
  { like, seed }: { like?: string | undefined; seed?: string | undefined },
  context: Context,
): Promise<Seed | undefined> {
  if (like === undefined) return seed === undefined ? undefined : readSeedFile(seed, context.terminal);
  const { readSeed } = await import('../../sandbox/index.ts');
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
  facts: { saved: Saved | undefined; host: string },
  terminal: CommandTerminal,
): Promise<void> {
  const { close: _close, control: _control, keys, ...ready } = sandbox;
  const bound = facts.host.includes(':') ? `[${facts.host}]` : facts.host;
  if (!isLoopback(new URL(`http://${bound}`))) {
    terminal.notice(`Bound to ${facts.host}: other machines on the network can reach this sandbox.`);
  }
  if (terminal.json)
    return writeJsonLine({ type: 'ready', ...ready, ...(keys.length > 0 ? { keys } : {}) }, terminal);
  terminal.err(renderSandbox(sandbox, facts.saved, terminal));
}

/** Renders the facts of a sandbox that has just started, and what to try. */
export function renderSandbox(
  sandbox: Pick<Sandbox, 'baseUrl' | 'apiKey' | 'endpoint' | 'bucket' | 'dashboardUrl' | 'dataDir'>,
  saved: Pick<Saved, 'current'> | undefined,
  terminal: Terminal,
): string {
  const pairs: [string, string][] = [
    ['API', sandbox.baseUrl],
    ['API key', maskKey(sandbox.apiKey)],
    ['Bucket', `${sandbox.bucket} at ${sandbox.endpoint}`],
    ['Web page', sandbox.dashboardUrl],
    ['State', sandbox.dataDir],
  ];
  const running = `The sandbox is running. Ctrl-C stops it.\n\n${renderPairs(pairs, terminal, '  ')}\n`;
  // A profile named `sandbox` would be another sandbox's.
  if (saved === undefined) return `${running}No profile was saved. Use --json to print the API key.\n`;
  const flag = saved.current === PROFILE ? [] : ['--profile', PROFILE];
  return [
    running,
    'Try it from another terminal:\n',
    `  ${command('templates', 'list', ...flag)}\n`,
    `  ${command('envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'ada@example.com', '--send', ...flag)}\n`,
    '  esign sandbox sign ENVELOPE_ID\n',
    `  ${command('envelopes', 'download', 'ENVELOPE_ID', ...flag)}\n`,
  ].join('');
}
