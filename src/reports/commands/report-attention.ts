import type { SelectionFlagValues } from '../../catalog/commands/selection-flags.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted, grouped } from '../../kernel/duration.ts';
import type { Attention, AttentionKind } from '../attention.ts';

/** What needs attention, with the command that shows all of it. */
export type AttentionWithCommands = Record<keyof Attention, AttentionKind & { next: string }>;

const COMMANDS: Readonly<Record<keyof Attention, readonly string[]>> = {
  declined: ['envelopes', 'list', '--status=DECLINED', '--since=30d'],
  expiring: ['envelopes', 'list', '--expiring-in=3d'],
  overdue: ['late'],
  drafts: ['envelopes', 'list', '--status=DRAFT', '--older-than=7d'],
};

/** Adds the commands, which select the same envelopes as the report. */
export function withCommands(
  attention: Attention,
  flags: SelectionFlagValues,
  { command }: Pick<CommandTerminal, 'command'>,
): AttentionWithCommands {
  const { template, signer, metadata = [], run } = flags;
  const filters = Object.entries({ template, signer, run }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  );
  filters.push(...metadata.map((pair) => `--metadata=${pair}`));
  const { declined, expiring, overdue, drafts } = attention;
  const next = (kind: keyof Attention) => command(...COMMANDS[kind], ...filters);
  return {
    declined: { ...declined, next: next('declined') },
    expiring: { ...expiring, next: next('expiring') },
    overdue: { ...overdue, next: next('overdue') },
    drafts: { ...drafts, next: next('drafts') },
  };
}

/** The kinds in the order in which they are shown, each with a function that formats its count. */
export const ATTENTION_KINDS: readonly (readonly [keyof Attention, (count: number) => string])[] = [
  ['declined', (count) => `${grouped(count)} declined recently`],
  ['expiring', (count) => `${grouped(count)} expiring soon`],
  ['overdue', (count) => `${counted(count, 'envelope')} overdue`],
  ['drafts', (count) => counted(count, 'forgotten draft')],
];
