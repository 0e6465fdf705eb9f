import { spawn } from 'node:child_process';
import { childEnvironment } from '../../kernel/process/child-environment.ts';

/** How the user's command ended. */
export interface ExecResult {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** Systems limit the size of an environment; ids and statuses are short. */
const LONGEST_VALUE = 4_096;

/**
 * Runs the user's shell command with text on its stdin. Untrusted text is passed only through stdin and the environment,
 * never as part of the command. The command gets none of our secrets.
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
    const options = { shell: true, env: childEnvironment(passable(env)) };
    const child = spawn(line, { ...options, stdio: ['pipe', out, out] });
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', onOutput ?? (() => undefined));
    // A command that does not read stdin may exit before the input is written.
    child.stdin?.on('error', () => undefined).end(stdin);
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
}

/** Makes untrusted values fit for an environment: without NUL, and not too long. */
function passable(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, text]) => [name, text.replaceAll('\0', '').slice(0, LONGEST_VALUE)]),
  );
}
