import { spawn } from 'node:child_process';

/** How a command of the user's ended. */
export interface ExecResult {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/**
 * Runs a line of the user's own in a shell, with text on its stdin. What strangers wrote is only ever in stdin and in
 * the environment, never part of the line.
 */
export function runCommand(
  line: string,
  stdin: string,
  env: Readonly<Record<string, string>>,
): Promise<ExecResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(line, { shell: true, stdio: ['pipe', 2, 2], env: { ...process.env, ...env } });
    // A command that reads no stdin may be gone before its input is.
    child.stdin?.on('error', () => undefined).end(stdin);
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
}
