import type { CommandTerminal } from '../../cli/terminal.ts';
import { completionScript, detectShell, installLine } from '../../completion/scripts.ts';
import { SHELLS, type Shell } from '../../completion/shells.ts';
import { UsageError } from '../../kernel/errors.ts';
import { writeJson } from '../../output/json.ts';

/**
 * Writes the completion script of the named shell. Without a name, shows on a terminal how to install it.
 * @throws UsageError without a name in a pipe, because the output could end up in a file as the script of the wrong shell.
 */
export async function writeCompletionScript(
  named: Shell | undefined,
  terminal: CommandTerminal,
): Promise<void> {
  if (named !== undefined) {
    const script = completionScript(named);
    const whole = { shell: named, install: installLine(named), script };
    return terminal.json ? writeJson(whole, terminal) : terminal.out(script);
  }
  if (!terminal.outIsTty || terminal.json) {
    throw new UsageError('Specify your shell.', { hint: `Supported shells: ${SHELLS.join(', ')}.` });
  }
  const detected = detectShell(process.env, process.platform);
  const shells = detected === undefined ? SHELLS : [detected];
  const lines = shells.map((shell) => `  ${shell.padEnd(12)}${installLine(shell)}\n`);
  await terminal.out(`To set up tab completion, run this once and open a new shell:\n\n${lines.join('')}`);
}
