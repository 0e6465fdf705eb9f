import { command } from '../../../kernel/text/shell-words.ts';
import { errColumns, type Terminal } from '../../../output/terminal.ts';
import { inColumns, widthOf } from '../../../output/text.ts';
import type { RunState } from '../../run-state.ts';

type Pairs = [label: string, text: string][];

/** The number of rows that a paused run suggests to send next. */
const NEXT_ROWS = 200;

/** Returns the command that continues a run, ready to run here: where it can't ask, it says `--yes`. */
export function resumeCommand(id: string, terminal: Terminal, ...flags: readonly string[]): string {
  return commandWithYes(terminal, 'bulk', 'resume', id, ...flags);
}

function commandWithYes(terminal: Terminal, ...words: readonly string[]): string {
  return command(...words, ...(terminal.canAsk ? [] : ['--yes']));
}

/**
 * Returns the commands that usually follow a run that is paused or has finished, ready to run here. None is wrapped, so that it can
 * be copied.
 */
export function nextCommandsText(state: RunState, terminal: Terminal): string {
  const pairs = nextCommands(state, terminal);
  const lines = inColumns(pairs).map((line) => `  ${line}`);
  const fits = lines.every((line) => widthOf(line) < errColumns());
  const shown = fits ? lines : pairs.flatMap(([label, text]) => [`  ${label}:`, `    ${text}`]);
  return shown.map((line) => `${line}\n`).join('');
}

function nextCommands({ head, isPaused, finishedCount }: RunState, terminal: Terminal): Pairs {
  const { id, file, mode, total } = head;
  const takeBack = commandWithYes(terminal, 'envelopes', 'cancel', '--run', id);
  const status: Pairs[number] = ['Who has signed', command('bulk', 'status', id)];
  if (isPaused)
    return [
      status,
      ...(total - finishedCount > NEXT_ROWS
        ? ([
            [`The next ${NEXT_ROWS}`, resumeCommand(id, terminal, '--first', String(NEXT_ROWS))],
          ] satisfies Pairs)
        : []),
      ['All the rest', resumeCommand(id, terminal)],
      ['End the run', takeBack],
    ];
  if (mode === 'draft')
    return [
      ['Send the drafts', commandWithYes(terminal, 'envelopes', 'send', '--run', id)],
      ['Cancel them', takeBack],
    ];
  const results: Pairs[number] =
    file === 'stdin'
      ? ['Export the results', command('bulk', 'export', id, '-o', 'status.csv')]
      : [
          'Add the results to your file',
          command(
            'bulk',
            'export',
            id,
            '--into',
            file,
            '-o',
            /\.xlsx$/i.test(file) ? 'status.xlsx' : 'status.csv',
          ),
        ];
  return [status, results, ['Who is late', command('late', '--run', id)], ['Cancel them', takeBack]];
}
