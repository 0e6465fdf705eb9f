import { spawn } from 'node:child_process';
import { childEnvironment } from '../../kernel/process/child-environment.ts';

/** How a command of the user's ended. */
export interface ExecResult {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** No system takes an environment of any size; ids and statuses are short. */
const LONGEST_VALUE = 4_096;

/**
 * Runs a line of the user's own in a shell, with text on its stdin. What strangers wrote is only ever in stdin and in
 * the environment, never part of the line. It gets none of our secrets.
 * @param onOutput is handed what it prints; without it that goes to stderr
 */
export function runCommand(
  line: string,
  stdin: string,
  env: Readonly<Record<string, string>>,
  onOutput?: (text: string) => void,
): Promise<ExecResult> {
  return new Promise((resolve, reject) => {
    const out = onOutput === undefined ? 2 : 'pipe';
    const options = { shell: true, env: childEnvironment(passable(env)) };
    const child = spawn(line, { ...options, stdio: ['pipe', out, out] });
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', onOutput ?? (() => undefined));
    // A command that reads no stdin may be gone before its input is.
    child.stdin?.on('error', () => undefined).end(stdin);
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
}

/** Values as an environment can hold them, whatever a stranger wrote: without NUL, and not too long. */
function passable(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, text]) => [name, text.replaceAll('\0', '').slice(0, LONGEST_VALUE)]),
  );
}
