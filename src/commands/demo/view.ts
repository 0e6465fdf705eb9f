import type { DemoStep, DemoSummary } from '../../demo/demo.ts';
import { counted } from '../../kernel/duration.ts';
import { isOnPath } from '../../kernel/process/on-path.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';

/** Renders a step of the demo: its title, the command, and the result. */
export function renderDemoStep(step: DemoStep, number: number, terminal: Terminal): string {
  const lines = [`${terminal.style('bold', `${String(number).padStart(2)}  ${safeLine(step.title)}`)}`];
  if (step.command) lines.push(`    ${terminal.style('cyan', `$ ${safeLine(step.command)}`)}`);
  for (const line of step.outcome) lines.push(`    ${safeLine(line)}`);
  return `${lines.join('\n')}\n\n`;
}

/** Renders where the documents are, and the next steps. `program` is how to call this program. */
export function renderDemoEnd(summary: DemoSummary, program: string, terminal: Terminal): string {
  const opener = { darwin: 'open', win32: 'start' }[String(process.platform)] ?? 'xdg-open';
  const open = process.platform === 'win32' || isOnPath(opener) ? `${opener} ` : '';
  const signed = summary.files.find((file) => file.what === 'signed')?.path ?? summary.folder;
  return [
    `${terminal.style('green', '✓')} From template to signed document in ${counted(summary.seconds, 'second')}.\n\n`,
    `Open the document:    ${open}${safeLine(signed)}\n`,
    `Try it yourself:      ${safeLine(program)} sandbox start\n`,
    `Rehearse a list:      ${safeLine(program)} bulk rehearse FILE --template ID --html rehearsal.html\n`,
    `Use the real service: ${safeLine(program)} profiles add NAME --base-url URL\n`,
  ].join('');
}
