import { spawn } from 'node:child_process';
import { UsageError } from '../kernel/errors.ts';
import { childEnvironment, type SecretVariable } from '../kernel/process/child-environment.ts';

/** Secrets that stay in the environment of the command, which may need AWS credentials. Other secrets are removed. */
const KEPT: readonly SecretVariable[] = [
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
];

/**
 * Runs the profile's command, which prints the key. It is run each time the key is needed, so the key is never stored.
 * stderr and stdin stay connected, because a password manager may have to prompt.
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
    });
    child.on('error', (error) => reject(failed(command, error.message)));
    child.on('close', (code) => {
      const key = printed.trim();
      if (code !== 0) reject(failed(command, `it exited with code ${code ?? 'none'}`));
      else if (key === '' || /\s/.test(key))
        reject(failed(command, 'it printed no key, or more than one word'));
      else resolve(key);
    });
  });
}

function failed(command: string, why: string): UsageError {
  return new UsageError(`The command for the API key failed: ${why}.`, {
    hint: `To test it, run it yourself: ${command}`,
  });
}
