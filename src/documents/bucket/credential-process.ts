import { spawn } from 'node:child_process';
import { durationText } from '../../kernel/duration.ts';
import { childEnvironment, type SecretVariable } from '../../kernel/process/child-environment.ts';

/** The AWS variables that the command may need. Secrets of esign are removed. */
const KEPT: readonly SecretVariable[] = [
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
];
/** More than any credentials. A command that prints without end would otherwise use up the memory. */
const MAX_OUTPUT = 64 * 1024;
const MAX_SHOWN = 200;

/**
 * Runs the command of credential_process and returns what it printed. The SDK's own call waits without end. The command may ask the user on
 * the terminal.
 * @throws Error that doesn't contain the command, which may contain a secret.
 */
export function runCredentialProcess(command: string, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, {
      shell: true,
      stdio: ['inherit', 'pipe', 'pipe'],
      env: childEnvironment({}, KEPT),
      windowsHide: true,
    });
    const end = (why: string) => {
      reject(new Error(`credential_process ${why}`));
      child.kill();
      // What the command has started may live on, and must not keep this process alive.
      child.stdout.destroy();
      child.stderr.destroy();
      child.unref();
    };
    const timer = setTimeout(() => end(`did not finish within ${durationText(timeoutMs)}`), timeoutMs);
    let printed = '';
    let complaint = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (printed.length > MAX_OUTPUT) end('printed too much');
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = `${complaint}${text}`.slice(0, MAX_OUTPUT);
    });
    child.on('error', (error) => end(`can't be run (${error.message})`));
    child.on('close', (code) => {
      clearTimeout(timer);
      const said = complaint.trim().replaceAll(/\s+/g, ' ').slice(0, MAX_SHOWN);
      if (code === 0) resolve(printed);
      else end(`failed${said === '' ? ` with exit code ${code ?? 'none'}` : ` (${said})`}`);
    });
  });
}
