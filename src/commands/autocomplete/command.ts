import * as Args from '@oclif/core/args';
import { EsignCommand } from '../../cli/command.ts';
import { completionScript, detectShell, installLine } from '../../completion/scripts.ts';
import { SHELLS } from '../../completion/shells.ts';
import { UsageError } from '../../kernel/errors.ts';
import { writeJson } from '../../output/json.ts';

export default class Autocomplete extends EsignCommand {
  static override summary = 'Print a completion script for your shell.';
  static override description =
    'Completes commands, flags, statuses, profile names, and the IDs of envelopes and templates that recent commands have shown. Without SHELL, prints installation instructions.';
  static override examples = [
    '<%= config.bin %> autocomplete',
    'eval "$(<%= config.bin %> autocomplete bash)"',
    'eval "$(<%= config.bin %> autocomplete zsh)"',
    '<%= config.bin %> autocomplete fish > ~/.config/fish/completions/esign.fish',
  ];
  static override args = {
    shell: Args.string({ description: 'your shell', options: [...SHELLS], ignoreStdin: true }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Autocomplete);
    const shell = SHELLS.find((known) => known === args.shell);
    const { terminal } = this.context(flags);
    if (shell !== undefined) {
      const script = completionScript(shell);
      const whole = { shell, install: installLine(shell), script };
      return terminal.json ? writeJson(whole, terminal) : terminal.out(script);
    }
    // In a pipe, the output could end up in a file as the script of the wrong shell.
    if (!terminal.outIsTty || terminal.json) {
      throw new UsageError('Specify your shell.', { hint: `Supported shells: ${SHELLS.join(', ')}.` });
    }
    const detected = detectShell(process.env, process.platform);
    const shells = detected === undefined ? SHELLS : [detected];
    const lines = shells.map((one) => `  ${one.padEnd(12)}${installLine(one)}\n`);
    await terminal.out(`To set up tab completion, run this once and open a new shell:\n\n${lines.join('')}`);
  }
}
