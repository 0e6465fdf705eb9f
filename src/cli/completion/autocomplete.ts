import * as Args from '@oclif/core/args';
import { UsageError } from '../../kernel/errors.ts';
import { writeJson } from '../../output/json.ts';
import { EsignCommand } from '../command.ts';
import { SHELLS, type Shell } from './shells.ts';

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
    const { args, terminal } = await this.start(Autocomplete);
    const shell = SHELLS.find((known) => known === args.shell);
    if (shell !== undefined) {
      const script = SCRIPTS[shell];
      const whole = { shell, install: INSTALL[shell], script };
      return terminal.json ? writeJson(whole, terminal) : terminal.out(script);
    }
    // In a pipe, the output could end up in a file as the script of the wrong shell.
    if (!terminal.outIsTty || terminal.json) {
      throw new UsageError('Specify your shell.', { hint: `Supported shells: ${SHELLS.join(', ')}.` });
    }
    const detected = detectShell(process.env, process.platform);
    const shells = detected === undefined ? SHELLS : [detected];
    const lines = shells.map((one) => `  ${one.padEnd(12)}${INSTALL[one]}\n`);
    await terminal.out(`To set up tab completion, run this once and open a new shell:\n\n${lines.join('')}`);
  }
}

/*
 * The scripts are short: they call `esign __complete`, which knows the commands of the installed version.
 * They never evaluate its output.
 */

const bash = `# bash completion for esign
_esign() {
  local line first=1 kind=
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $first == 1 ]]; then
      first=0
      case $line in
        :files) compopt -o default 2>/dev/null || kind=-f ;;
        :dirs) compopt -o dirnames 2>/dev/null || kind=-d ;;
      esac
    else
      COMPREPLY+=("$line")
    fi
  done < <(esign __complete bash "=\${COMP_WORDS[COMP_CWORD]}" "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null </dev/null)
  # The bash of macOS, 3.2, has no compopt.
  [[ -n $kind ]] && while IFS= read -r line; do COMPREPLY+=("$(printf %q "$line")"); done < <(compgen $kind -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -F _esign esign
`;

const zsh = `#compdef esign
# zsh completion for esign
_esign() {
  local -a lines values shown
  local line
  lines=("\${(@f)$(esign __complete zsh "=\${(Q)PREFIX}" "\${(@Q)words[2,CURRENT-1]}" 2>/dev/null </dev/null)}")
  case "\${lines[1]}" in
    :files) _files; return ;;
    :dirs) _files -/; return ;;
  esac
  for line in "\${(@)lines[2,-1]}"; do
    [[ -n "$line" ]] || continue
    values+=("\${line%%$'\\t'*}")
    shown+=("\${line/$'\\t'/  -- }")
  done
  (( \${#values} )) && compadd -l -d shown -a -- values
}
if [[ "\${funcstack[1]}" == _esign ]]; then
  _esign "$@"
else
  (( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit }
  compdef _esign esign
fi
`;

const fish = `# fish completion for esign
function __esign_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    set -l lines (esign __complete fish "=$current" $words 2>/dev/null </dev/null)
    set -l paths $lines[1]
    set -e lines[1]
    switch "$paths"
        case :files
            __fish_complete_path "$current"
        case :dirs
            __fish_complete_directories "$current"
        case '*'
            test (count $lines) -gt 0; and printf '%s\\n' $lines
    end
end
complete -c esign -f -a '(__esign_complete)'
`;

const powershell = `# PowerShell completion for esign
Register-ArgumentCompleter -Native -CommandName esign -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object { if ($null -ne $_.Value) { [string]$_.Value } else { $_.Extent.Text } })
    $lines = @(& esign __complete powershell "=$wordToComplete" @words 2>$null)
    $lines | Select-Object -Skip 1 | ForEach-Object {
        $text, $value, $about = $_ -split "\`t", 3
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $about)
    }
}
`;

/** The completion script of each shell. */
export const SCRIPTS: Readonly<Record<Shell, string>> = { bash, zsh, fish, powershell };

/** The lines that enable completion of esign when a shell is next started. */
const INSTALL: Readonly<Record<Shell, string>> = {
  bash: `echo 'eval "$(esign autocomplete bash)"' >> ~/.bashrc`,
  zsh: `echo 'eval "$(esign autocomplete zsh)"' >> ~/.zshrc`,
  fish: 'esign autocomplete fish > ~/.config/fish/completions/esign.fish',
  // A new user's profile folder doesn't exist yet, and `>>` in Windows PowerShell writes UTF-16.
  powershell:
    'New-Item -Force -ItemType Directory (Split-Path $PROFILE) | Out-Null; esign autocomplete powershell | Out-File -Append -Encoding utf8 $PROFILE',
};

/** Returns the user's shell, determined from the environment. */
export function detectShell(
  env: Readonly<Record<string, string | undefined>>,
  platform: string,
): Shell | undefined {
  const name = (env.SHELL ?? '').split(/[/\\]/).at(-1) ?? '';
  const known = (['bash', 'zsh', 'fish'] as const).find((shell) => name.startsWith(shell));
  if (known !== undefined) return known;
  return name.startsWith('pwsh') || platform === 'win32' ? 'powershell' : undefined;
}
