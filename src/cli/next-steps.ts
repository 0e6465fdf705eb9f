import type { Terminal } from '../output/terminal.ts';
import { padded, widthOf } from '../output/text.ts';
import { wrapCommand } from './wrap-command.ts';

/** A command that makes sense now, and what it does in a few words. */
export type NextStep = readonly [label: string, command: string];

/** Renders commands to run next, one below the other. A long one is continued on the next line, so that it can still be copied. */
export function renderNextSteps(
  steps: readonly NextStep[],
  terminal: Pick<Terminal, 'columns' | 'style'>,
  indent = '  ',
): string {
  const width = Math.max(0, ...steps.map(([label]) => widthOf(label)));
  const start = `${indent}${' '.repeat(width)}  `;
  const lines = steps.map(([label, command]) => {
    const shown = wrapCommand(command, terminal.columns - start.length).replaceAll('\n', `\n${start}`);
    return `${indent}${padded(label, width)}  ${shown}\n`;
  });
  return lines.map((line) => terminal.style('dim', line)).join('');
}
