import type { TextFormat } from '../../output/terminal.ts';
import type { RunSummary } from '../../runs/run-list.ts';
import type { SignerState } from '../status/signer-states.ts';

/** The colors of signers' states. As for envelope statuses, red and green are never next to each other. */
export const STATE_COLORS: Readonly<Record<SignerState, TextFormat>> = {
  failed: 'red',
  pending: 'dim',
  draft: 'dim',
  declined: 'magenta',
  expired: 'yellow',
  cancelled: 'dim',
  replaced: 'dim',
  waiting: 'cyan',
  later: 'dim',
  signed: 'green',
};

/** Returns the color of a run's state. */
export function runStateColor(run: Pick<RunSummary, 'state'>): 'green' | 'yellow' | 'cyan' | 'dim' {
  if (run.state === 'finished') return 'green';
  if (run.state === 'cancelled' || run.state === 'continued') return 'dim';
  return run.state === 'running' ? 'cyan' : 'yellow';
}
