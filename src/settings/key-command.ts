import { spawn } from 'node:child_process';
import { ctrlCPressed, UsageError } from '../kernel/errors.ts';
import { childEnvironment, type SecretVariable } from '../kernel/process/child-environment.ts';
import { maskKey } from '../kernel/redaction.ts';
import { keyProblem } from '../kernel/text/api-key.ts';

/** Secrets that stay in the environment of the command, which may need AWS credentials. Other secrets are removed. */
const KEPT: readonly SecretVariable[] = [
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
];

/** More than any key. A command that prints without end would otherwise use up the memory. */
const MAX_LENGTH = 64 * 1024;

/** Matches words that could be a key: long, with letters and digits. */
const KEY_LIKE = /\b(?=\w*\d)(?=\w*[a-z])\w{16,}\b/gi;

/** Returns a key command that is safe to display: it could be `echo KEY`. */
export function publicKeyCommand(command: string): string {
  return command.replace(KEY_LIKE, maskKey);
}

/**
 * Runs the profile's command, which prints the key. It is run each time the key is needed, so the key is never stored.
 * stderr and stdin stay connected, because a password manager may have to prompt.
 * @throws ExitPromptError if SIGINT ends the command.
 */
export function readKeyFromCommand(command: string, signal?: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, {
      shell: true,
      stdio: ['inherit', 'pipe', 'inherit'],
      env: childEnvironment({}, KEPT),
      signal,
    });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (printed.length <= MAX_LENGTH) return;
      reject(failed(command, 'it printed too much'));
      child.stdout.destroy();
      child.kill();
    });
    child.on('error', (error) => reject(signal?.aborted ? signal.reason : failed(command, error.message)));
    child.on('close', (code, endedBy) => {
      const key = printed.trim();
      const problem = problemOf(key);
      // A terminal sends SIGINT to the command and to this process, which may receive its own only after the command has ended.
      if (endedBy === 'SIGINT') reject(ctrlCPressed());
      else if (code !== 0) reject(failed(command, `it exited with code ${code ?? 'none'}`));
      else if (problem !== undefined) reject(failed(command, problem));
      else resolve(key);
    });
  });
}

function problemOf(printed: string): string | undefined {
  if (printed === '') return 'it printed no key';
  const problem = keyProblem(printed);
  return problem && `the key that it printed ${problem}`;
}

function failed(command: string, why: string): UsageError {
  return new UsageError(`The command for the API key failed: ${why}.`, {
    hint: `To test it, run it yourself: ${publicKeyCommand(command)}`,
  });
}
