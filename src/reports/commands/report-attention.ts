import { renderNextSteps } from '../../cli/next-steps.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted, grouped } from '../../kernel/duration.ts';
import { isTableOutput, type ListFormat, type ListView, writeList } from '../../output/print-list.ts';
import type { Terminal } from '../../output/terminal.ts';
import type { SelectionFlagValues } from '../../selection/selection-flags.ts';
import type { AttentionGroup, EnvelopesNeedingAttention } from '../attention.ts';

/** What needs attention, with the command that shows all of it. */
export type AttentionWithCommands = Record<
  keyof EnvelopesNeedingAttention,
  AttentionGroup & { next: string }
>;

const COMMANDS: Readonly<Record<keyof EnvelopesNeedingAttention, readonly string[]>> = {
  declined: ['envelopes', 'list', '--status=DECLINED', '--since=30d'],
  expiring: ['envelopes', 'list', '--expiring-in=3d'],
  overdue: ['late'],
  drafts: ['envelopes', 'list', '--status=DRAFT', '--older-than=7d'],
};

/** Adds the commands, which select the same envelopes as the report. */
export function attentionWithCommands(
  attention: EnvelopesNeedingAttention,
  flags: SelectionFlagValues,
  { command }: Pick<CommandTerminal, 'command'>,
): AttentionWithCommands {
  const { template, signer, metadata = [], run } = flags;
  const filters = Object.entries({ template, signer, run }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  );
  filters.push(...metadata.map((pair) => `--metadata=${pair}`));
  const { declined, expiring, overdue, drafts } = attention;
  const next = (kind: keyof EnvelopesNeedingAttention) => command(...COMMANDS[kind], ...filters);
  return {
    declined: { ...declined, next: next('declined') },
    expiring: { ...expiring, next: next('expiring') },
    overdue: { ...overdue, next: next('overdue') },
    drafts: { ...drafts, next: next('drafts') },
  };
}

/** The kinds in the order in which they are shown, each with a function that formats its count. */
const KINDS: readonly (readonly [keyof EnvelopesNeedingAttention, (count: number) => string])[] = [
  ['declined', (count) => `${grouped(count)} declined recently`],
  ['expiring', (count) => `${grouped(count)} expiring soon`],
  ['overdue', (count) => `${counted(count, 'envelope')} overdue`],
  ['drafts', (count) => counted(count, 'forgotten draft')],
];

/** A kind that has envelopes, with their number in words. */
export interface AttentionItem {
  kind: keyof EnvelopesNeedingAttention;
  facts: AttentionGroup & { next: string };
  countText: string;
}

/** Returns the kinds that have envelopes, in the order in which they are shown. */
export function attentionItems(attention: AttentionWithCommands): AttentionItem[] {
  return KINDS.map(([kind, textOf]) => {
    const facts = attention[kind];
    return { kind, facts, countText: textOf(facts.count) };
  }).filter(({ facts }) => facts.count > 0);
}

/** Writes only what needs attention, for a job that emails what it prints: nothing if nothing does, except the empty list of `--json`. */
export async function writeAttention(
  items: readonly AttentionItem[],
  format: ListFormat,
  terminal: Terminal,
): Promise<void> {
  if (items.length === 0 && format.json !== true) return;
  if (isTableOutput(format, terminal)) return terminal.out(renderAttention(items, terminal));
  await writeList(
    items.map(({ kind, facts }) => ({ kind, ...facts })),
    ATTENTION_LIST,
    format,
    terminal,
  );
}

const ATTENTION_LIST: ListView<AttentionGroup & { kind: string; next: string }> = {
  id: ({ kind }) => kind,
  columns: ['kind', 'count', 'next'].map((key) => ({ key })),
};

/** Renders each kind with its command for a terminal. */
export function renderAttention(items: readonly AttentionItem[], terminal: Terminal): string {
  const rows = items.map(({ countText, facts }): [string, string] => [countText, facts.next]);
  return `${terminal.style('bold', 'Needs attention')}\n${renderNextSteps(rows, terminal)}`;
}
