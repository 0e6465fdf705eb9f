import { type NextStep, renderNextSteps } from '../../../cli/next-steps.ts';
import type { CommandTerminal } from '../../../cli/terminal.ts';
import { errColumns } from '../../../output/terminal.ts';
import type { RunState } from '../../../runs/run-state.ts';
import { argumentsOfRun, type RunArguments } from '../../../selection/selected-run.ts';

/** The number of rows that a paused run suggests to send next. */
const NEXT_ROWS = 200;

/** Returns the command that continues a run, ready to run here: where it can't ask, it says `--yes`. */
export function resumeCommand(
  state: RunState,
  run: RunArguments,
  terminal: CommandTerminal,
  ...flags: readonly string[]
): string {
  const { argument } = wordsForWrite(state, run, terminal);
  return commandWithYes(terminal, 'bulk', 'resume', ...argument, ...flags);
}

function commandWithYes(terminal: CommandTerminal, ...words: readonly string[]): string {
  return terminal.command(...words, ...(terminal.canAsk ? [] : ['--yes']));
}

/** A command that doesn't ask names the run by its ID, because another run may be the latest one when it is run. */
function wordsForWrite({ head }: RunState, run: RunArguments, terminal: CommandTerminal): RunArguments {
  return terminal.canAsk ? run : argumentsOfRun(head.id);
}

/** Returns the commands that usually follow a run that is paused or has finished, ready to run here, for stderr. */
export function nextCommandsText(state: RunState, run: RunArguments, terminal: CommandTerminal): string {
  const screen = { columns: errColumns(), style: terminal.styleErr };
  return renderNextSteps(nextCommands(state, run, terminal), screen);
}

function nextCommands(state: RunState, run: RunArguments, terminal: CommandTerminal): NextStep[] {
  const { file, mode, total } = state.head;
  const { filter } = wordsForWrite(state, run, terminal);
  const takeBack = commandWithYes(terminal, 'envelopes', 'cancel', ...filter);
  const status: NextStep = ['Who has signed', terminal.command('bulk', 'status', ...run.argument)];
  const resume = (...flags: readonly string[]) => resumeCommand(state, run, terminal, ...flags);
  if (state.isPaused)
    return [
      status,
      ...(total - state.finishedCount > NEXT_ROWS
        ? ([[`The next ${NEXT_ROWS}`, resume('--first', String(NEXT_ROWS))]] satisfies NextStep[])
        : []),
      ['All the rest', resume()],
      ['End the run', takeBack],
    ];
  if (mode === 'draft')
    return [
      ['Send the drafts', commandWithYes(terminal, 'envelopes', 'send', ...filter)],
      ['Cancel them', takeBack],
    ];
  const results: NextStep =
    file === 'stdin'
      ? ['Export the results', terminal.command('bulk', 'export', ...run.argument, '-o', 'status.csv')]
      : [
          'Results in your file',
          terminal.command(
            'bulk',
            'export',
            ...run.argument,
            '--into',
            file,
            '-o',
            /\.xlsx$/i.test(file) ? 'status.xlsx' : 'status.csv',
          ),
        ];
  return [
    status,
    results,
    ['Who is late', terminal.command('late', ...run.filter)],
    ['Cancel them', takeBack],
  ];
}
