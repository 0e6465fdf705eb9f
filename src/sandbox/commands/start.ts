import { join } from 'node:path';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, textFlag } from '../../cli/flags.ts';
import { untilAborted } from '../../cli/interrupt.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { configDir, stateDir } from '../../kernel/files/paths.ts';
import { makeTemporaryFolder } from '../../kernel/files/temporary-folder.ts';
import { maskKey } from '../../kernel/redaction.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { writeJsonLine } from '../../output/json.ts';
import { renderPairs } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import type { Profile } from '../../settings/profile.ts';
import { putProfile, removeProfile } from '../../settings/profile-changes.ts';
import { updateProfiles } from '../../settings/update-store.ts';
import type { Sandbox } from '../index.ts';
import { serviceFlags, serviceOptions } from './service-flags.ts';

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
    "<%= config.bin %> sandbox start --fault 'lostReply=POST /esign/envelopes$'",
  ];
  static override flags = {
    port: Flags.integer({
      description: 'API port; 0 for any free port',
      default: 4010,
      helpValue: 'N',
      min: 0,
      max: 65_535,
    }),
    data: textFlag('DIR', 'folder to store the state in', { exclusive: ['ephemeral'] }),
    ephemeral: booleanFlag('delete everything on exit'),
    ...serviceFlags,
  };

  async run(): Promise<void> {
    const { flags, context, terminal } = await this.start(SandboxStart);
    const { startSandbox } = await import('../index.ts');
    const service = await serviceOptions(flags, context);
    const temporary = flags.ephemeral ? await makeTemporaryFolder('esign-sandbox-') : undefined;
    // Each port has its own folder, so that two sandboxes never share one.
    const folder = temporary?.path ?? flags.data ?? join(stateDir(), 'sandbox', String(flags.port));
    let sandbox: Sandbox | undefined;
    try {
      const options = {
        ...service,
        dataDir: folder,
        port: flags.port,
        onProblem: (line: string) => terminal.notice(line),
      };
      sandbox = await terminal.waiting('Starting the sandbox', () => startSandbox(options));
      const saved = await saveProfile(sandbox, flags.ephemeral);
      await announce(sandbox, saved, terminal);
      await untilAborted(context.interrupt.signal);
      if (flags.ephemeral) await dropProfile(sandbox, saved.before);
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

interface SavedSandboxProfile {
  /** The name of the current profile. */
  current: string | undefined;
  /** The profile that was replaced, if it is still valid. */
  before: Profile | undefined;
}

async function saveProfile(sandbox: Sandbox, ephemeral: boolean): Promise<SavedSandboxProfile> {
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
  saved: SavedSandboxProfile,
  terminal: CommandTerminal,
): Promise<void> {
  if (!terminal.json) return terminal.err(renderSandbox(sandbox, saved, terminal));
  const { baseUrl, apiKey, endpoint, bucket, region, accessKeyId, secretAccessKey } = sandbox;
  const { dashboardUrl, keys, orgId, dataDir } = sandbox;
  const ready = {
    ...{ type: 'ready', baseUrl, apiKey, endpoint, bucket, region, accessKeyId, secretAccessKey },
    ...{ dashboardUrl, orgId, dataDir, ...(keys.length > 0 ? { keys } : {}) },
  };
  await writeJsonLine(ready, terminal);
}

/** Renders the facts of a sandbox that has just started, and what to try. */
export function renderSandbox(
  sandbox: Pick<Sandbox, 'baseUrl' | 'apiKey' | 'endpoint' | 'bucket' | 'dashboardUrl' | 'dataDir'>,
  saved: Pick<SavedSandboxProfile, 'current'>,
  terminal: Terminal,
): string {
  const pairs: [string, string][] = [
    [
      'Profile',
      saved.current === PROFILE
        ? `${PROFILE}, which all commands use now`
        : `${PROFILE}; the current one is ${saved.current ?? 'none'}`,
    ],
    ['API', sandbox.baseUrl],
    ['API key', maskKey(sandbox.apiKey)],
    ['Bucket', `${sandbox.bucket} at ${sandbox.endpoint}`],
    ['Web page', sandbox.dashboardUrl],
    ['State', sandbox.dataDir],
  ];
  const flag = saved.current === PROFILE ? [] : ['--profile', PROFILE];
  return [
    `The sandbox is running. Ctrl-C stops it.\n\n${renderPairs(pairs, terminal, '  ')}\n`,
    'Try it from another terminal:\n',
    `  ${command('templates', 'list', ...flag)}\n`,
    `  ${command('envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'ada@example.com', '--send', ...flag)}\n`,
    '  esign sandbox sign ENVELOPE_ID\n',
    `  ${command('envelopes', 'download', 'ENVELOPE_ID', ...flag)}\n`,
  ].join('');
}
