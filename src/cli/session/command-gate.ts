import type { SandboxControl } from '../../api/sandbox-control.ts';
import type { OpenGate } from '../../api/write-gate.ts';
import type { Clock } from '../../kernel/clock.ts';
import { sentenceOf } from '../../kernel/errors.ts';
import { configDir, stateDir } from '../../kernel/files/paths.ts';
import { isLoopbackHost } from '../../kernel/network/localhost.ts';
import { userName } from '../../kernel/process/user-name.ts';
import { LogFolder, logFolder } from '../../log/log-folder.ts';
import { NO_MEMORY } from '../../log/write-memory.ts';
import { guardedGate, readOnlyGate } from '../../settings/guards/gate.ts';
import { combineGuards, type Guards } from '../../settings/guards/guards.ts';
import { readPolicy } from '../../settings/guards/policy.ts';
import { requireConnection, type Settings } from '../../settings/resolve.ts';
import { profileNamed, readProfiles } from '../../settings/store.ts';
import type { CommandTerminal } from '../terminal.ts';

/** The parts of a session that are needed here. The session itself can't be imported, because it loads this module. */
interface Connection {
  clock: Clock;
  now(): number;
  sandbox(): Promise<SandboxControl>;
}

/** Returns the active guards. A sandbox with the profile written by `sandbox start` is exempt from the machine's policy. */
export async function guardsOf(settings: Settings, session: Connection): Promise<Guards> {
  const policy = await readPolicy();
  const isExempt = policy.state !== 'none' && (await isOwnSandbox(settings, session));
  return combineGuards(settings.profile?.guards, isExempt ? { state: 'none' } : policy);
}

/** Returns the settings with the guards that their profile has now. @throws NotFoundError if it was removed. */
function withStoredGuards(settings: Settings): Settings {
  const { profile, profileName } = settings;
  if (profile === undefined || profileName === undefined) return settings;
  const { guards } = profileNamed(readProfiles(configDir()), profileName.value);
  return { ...settings, profile: { ...profile, guards } };
}

/** Returns true if the profile belongs to a sandbox that is running on this machine at its own address. */
async function isOwnSandbox({ profile, baseUrl }: Settings, session: Connection): Promise<boolean> {
  if (profile?.sandbox !== true || baseUrl?.source !== 'profile') return false;
  if (!isLoopbackHost(new URL(baseUrl.value).hostname)) return false;
  return (await session.sandbox()).status().then(
    () => true,
    () => false,
  );
}

interface GateContext {
  terminal: CommandTerminal;
  command: string;
  confirm: string | undefined;
  isDryRun: boolean;
  /** Ends the requests that only check. */
  signal: AbortSignal;
}

/**
 * Creates the gate for all writes of a command to the service: first the guards, then the log. In a dry run, a refusal isn't logged.
 */
export async function createGate(
  settings: Settings,
  session: Connection,
  { terminal, command, confirm, isDryRun, signal }: GateContext,
): Promise<OpenGate> {
  const { baseUrl } = requireConnection(settings);
  return guardedGate({
    readGuards: async () => guardsOf(withStoredGuards(settings), session),
    confirmation: {
      names: namesOf(settings),
      given: confirm,
      ask: terminal.canAsk && !terminal.json ? askName : undefined,
    },
    memory: isDryRun ? NO_MEMORY : new LogFolder(logFolder(stateDir()), session.clock),
    timeoutMs: settings.timeoutMs.value,
    facts: { user: userName(), profile: settings.profileName?.value ?? null, baseUrl, command },
    clock: session.clock,
    serviceNow: () => session.now(),
    signal,
    redact: (text) => terminal.redactor.redact(text),
    onIncomplete: (error) =>
      terminal.notice(`The request succeeded, but its log entry is incomplete. ${sentenceOf(error)}`),
  });
}

/** Creates the gate for the controls of a sandbox, which are not part of the service. */
export async function sandboxGateOf(settings: Settings, session: Connection): Promise<OpenGate> {
  return readOnlyGate(await guardsOf(settings, session));
}

async function askName(name: string): Promise<string> {
  const { askText } = await import('../input/prompts.ts');
  return askText(`Type ${name} to confirm:`);
}

/** Returns the name of the profile or, without one, the host. */
function namesOf({ profileName, baseUrl }: Settings): [string, ...string[]] {
  if (profileName !== undefined) return [profileName.value];
  const { hostname = '', host = '' } = baseUrl === undefined ? {} : new URL(baseUrl.value);
  return [hostname, host];
}
