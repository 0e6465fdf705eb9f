import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { constants } from 'node:os';
import { EsignCommand } from '../../cli/command.ts';
import { requiredArg } from '../../cli/flags.ts';
import { stoppedBy } from '../../cli/interrupt.ts';
import { UsageError } from '../../kernel/errors.ts';
import { diskReason } from '../../kernel/files/disk-reason.ts';
import { makeTemporaryFolder } from '../../kernel/files/temporary-folder.ts';
import { exemptLoopback } from '../../kernel/network/proxy.ts';
import { childEnvironment } from '../../kernel/process/child-environment.ts';
import { waitingIndicator } from '../../output/waiting-indicator.ts';
import type { Sandbox } from '../index.ts';
import { serviceFlags, serviceOptions } from './service-flags.ts';

export default class SandboxExec extends EsignCommand {
  static override summary = 'Run a command, such as your tests, with a temporary sandbox.';
  static override description =
    "The command's environment has ESIGN_BASE_URL, ESIGN_API_KEY, ESIGN_SANDBOX_URL, ESIGN_BUCKET, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL_S3, and AWS_REGION, but no other settings for the service or the bucket. Exits with the command's exit code and deletes the sandbox. POST faults to $ESIGN_SANDBOX_URL/__sandbox/faults to switch them while the command runs, and GET /__sandbox/deliveries to see why a webhook has not arrived; both accept the API key.";
  static override examples = [
    '<%= config.bin %> sandbox exec -- npm test',
    '<%= config.bin %> sandbox exec --seed seed.yaml -- pytest -q',
    "<%= config.bin %> sandbox exec --fault 'lostReply=POST /esign/envelopes$' -- sh test.sh",
    `curl -H "Authorization: Bearer $ESIGN_API_KEY" -H 'Content-Type: application/json' -d '{"error500":{"times":1}}' $ESIGN_SANDBOX_URL/__sandbox/faults`,
    `curl -H "Authorization: Bearer $ESIGN_API_KEY" $ESIGN_SANDBOX_URL/__sandbox/deliveries`,
  ];
  static override usage = 'sandbox exec [FLAGS] -- COMMAND...';
  static override strict = false;
  static override args = {
    command: requiredArg('command to run, with its arguments'),
  };
  static override flags = serviceFlags;

  async run(): Promise<void> {
    const { raw, flags, context, terminal, interrupt } = await this.start(SandboxExec);
    // oclif's own list is in a different order if a word is repeated.
    const command = raw.flatMap(({ type, input }) => (type === 'arg' ? [input] : []));
    const { startSandbox } = await import('../index.ts');
    const service = await serviceOptions(flags, context);
    const { path: dataDir, remove } = await makeTemporaryFolder('esign-sandbox-');
    let sandbox: Sandbox | undefined;
    let child: ChildProcess | undefined;
    // Cleans up if the process has to end before `finally` is reached.
    const forget = interrupt.ifInterrupted(() => {
      child?.kill('SIGKILL');
      rmSync(dataDir, { recursive: true, force: true });
      return '';
    });
    try {
      const options = { ...service, dataDir, port: 0 };
      sandbox = await terminal.waiting('Starting the sandbox', () => startSandbox(options));
      interrupt.signal.throwIfAborted();
      if (terminal.errIsTty)
        terminal.notice(
          `The sandbox is at ${new URL(sandbox.baseUrl).origin} and is deleted when ${command[0] ?? ''} ends.`,
        );
      // From here on, the terminal belongs to the command.
      waitingIndicator.hold();
      child = start(command, sandbox);
      const { code, signal } = await endOf(child, command, interrupt.signal);
      if (signal !== null && PASSED_ON.includes(signal) && !interrupt.signal.aborted)
        interrupt.interrupt(signal);
      process.exitCode = code ?? 128 + constants.signals[signal ?? 'SIGKILL'];
    } finally {
      await sandbox?.close();
      await remove();
      forget();
    }
  }
}

/** Environment variables that would make the command use another service or bucket. */
const FOREIGN = /^(AWS_.*|ESIGN_(BASE_URL|API_KEY|PROFILE|SANDBOX_URL|WEBHOOK_SECRET|BUCKET.*))$/i;
/** Signals of the command that also end this process. Others become an exit code, as in a shell. */
const PASSED_ON: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Starts the command. */
function start([file = '', ...words]: readonly string[], sandbox: Sandbox): ChildProcess {
  const { baseUrl, apiKey, bucket, accessKeyId, secretAccessKey, endpoint, region } = sandbox;
  const own = Object.entries(process.env).filter(([name]) => !FOREIGN.test(name));
  const more = {
    ...exemptLoopback(process.env),
    ESIGN_BASE_URL: baseUrl,
    ESIGN_API_KEY: apiKey,
    ESIGN_SANDBOX_URL: new URL(baseUrl).origin,
    ESIGN_BUCKET: bucket,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_REGION: region,
  };
  const env = childEnvironment(more, [], Object.fromEntries(own));
  try {
    return spawn(file, words, { env, stdio: 'inherit' });
  } catch (error) {
    // A few errors, such as a path below a file, are thrown instead of emitted.
    throw notRunnable(file, error);
  }
}

function notRunnable(file: string, error: unknown): UsageError {
  return new UsageError(`Can't run ${file} (${diskReason(error)}).`, {
    cause: error,
    hint: 'Use a program on PATH, or the path to a program. For a shell command, use sh -c "…".',
  });
}

function endOf(
  child: ChildProcess,
  [file = '']: readonly string[],
  stop: AbortSignal,
): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    const pass = () => {
      const signal = stoppedBy(stop) ?? 'SIGTERM';
      // On a terminal, Ctrl-C has already been sent to the command, too.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    };
    stop.addEventListener('abort', pass, { once: true });
    if (stop.aborted) pass();
    child.once('error', (error) => reject(notRunnable(file, error)));
    child.once('exit', (code, signal) => {
      stop.removeEventListener('abort', pass);
      resolve({ code, signal });
    });
  });
}
