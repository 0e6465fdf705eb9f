import { spawn } from 'node:child_process';

/** How a command of the user's ended. */
export interface ExecResult {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/**
 * Runs a line of the user's own in a shell, with text on its stdin. What strangers wrote is only ever in stdin and in
 * the environment, never part of the line.
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
    const child = spawn(line, { shell: true, stdio: ['pipe', out, out], env: { ...process.env, ...env } });
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', onOutput ?? (() => undefined));
    // A command that reads no stdin may be gone before its input is.
    child.stdin?.on('error', () => undefined).end(stdin);
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
}
