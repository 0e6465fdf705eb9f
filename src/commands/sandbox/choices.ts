import { EsignCommand } from '../../cli/command.ts';
import { fieldsFlag, formatFlags, optionalArg, quietFlag } from '../../cli/flags.ts';
import { readPairs } from '../../cli/input/pairs.ts';
import { type ListView, writeList } from '../../output/list.ts';
import type { SandboxChoice } from '../../sandbox-control/control.ts';

export default class SandboxChoices extends EsignCommand {
  static override summary = 'Show or set how the sandbox behaves where the API document is ambiguous.';
  static override examples = [
    '<%= config.bin %> sandbox choices',
    '<%= config.bin %> sandbox choices list-items=summary action-reply=empty204',
    '<%= config.bin %> sandbox choices --json | jq -r ".[] | select(.value != .default) | .name"',
  ];
  static override strict = false;
  static override args = { choice: optionalArg('NAME=VALUE to set') };
  static override flags = { ...formatFlags, fields: fieldsFlag('name,value'), quiet: quietFlag('names') };

  async run(): Promise<void> {
    const { argv, flags, session, terminal } = await this.start(SandboxChoices);
    const choices = readPairs(argv.map(String), 'choice');
    const sandbox = await session.sandbox();
    await writeList(await sandbox.choices(choices), choiceList, flags, terminal);
  }
}

/** The list of ambiguities in the API document, and how this sandbox handles them. */
export const choiceList: ListView<SandboxChoice> = {
  id: (one) => one.name,
  empty: 'This sandbox has no choices.',
  columns: [
    { key: 'name', fixed: true },
    { key: 'value', color: (one) => (one.value === one.default ? undefined : 'yellow'), fixed: true },
    {
      key: 'values',
      header: 'OR',
      value: (one) => one.values.filter((value) => value !== one.value).join(', '),
    },
    { key: 'decides' },
  ],
};
