import * as Args from '@oclif/core/args';
import { EsignCommand } from '../../cli/command.ts';
import { SHELLS } from '../../completion/shells.ts';
import { writeCompletionScript } from './script.ts';

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
    await writeCompletionScript(shell, this.context(flags).terminal);
  }
}
