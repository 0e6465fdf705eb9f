import { spawn } from 'node:child_process';
import { childEnvironment } from '../../kernel/process/child-environment.ts';

export interface ExecResult {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** The maximum length of a value. Systems limit the size of an environment; IDs and statuses are short. */
const MAX_VALUE_LENGTH = 4_096;

/**
 * Runs the user's shell command with text on its stdin. Untrusted text is passed only through stdin and the environment,
 * never as part of the command. Secrets of esign are not passed to it.
 * @param onOutput receives its output (default: written to stderr)
 */
export function runCommand(
  line: string,
  stdin: string,
  env: Readonly<Record<string, string>>,
  onOutput?: (text: string) => void,
): Promise<ExecResult> {
  return new Promise((resolve, reject) => {
    const out = onOutput === undefined ? 2 : 'pipe';
    const options = { shell: true, env: childEnvironment(safeEnvironment(env)) };
    const child = spawn(line, { ...options, stdio: ['pipe', out, out] });
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', onOutput ?? (() => undefined));
    // A command that doesn't read stdin may exit before all input is written.
    child.stdin?.on('error', () => undefined).end(stdin);
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
}

/** Makes untrusted values usable in an environment: removes NUL and limits the length. */
function safeEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, text]) => [name, text.replaceAll('\0', '').slice(0, MAX_VALUE_LENGTH)]),
  );
}
