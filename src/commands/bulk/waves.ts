import * as Flags from '@oclif/core/flags';
import type { Client } from '../../api/client.ts';
import { STOP_SHARES, type StopLimit } from '../../bulk/entries.ts';
import type { RunState } from '../../bulk/run-state.ts';
import { readShares, type ShareFigure } from '../../bulk/waves.ts';
import type { Context } from '../../cli/context.ts';
import { inGroup } from '../../cli/flags.ts';
import { counted, grouped } from '../../kernel/duration.ts';
import { StoppedError, UsageError } from '../../kernel/errors.ts';
import { command } from '../../kernel/text/shell-words.ts';

const REST = 'rest';
const LIMIT = /^(\w+)\s*>\s*(\d+(?:\.\d+)?)\s*%$/;

/** Reads `20,200,rest`: the number of rows in each wave. The remaining rows are the last wave. */
const wavesFlag = Flags.custom<number[]>({
  parse: (text) => {
    const parts = text.split(',').map((part) => part.trim());
    const sizes = (parts.at(-1) === REST ? parts.slice(0, -1) : parts).map(readSize);
    if (sizes.every((size) => size !== undefined)) return Promise.resolve(sizes);
    throw new UsageError(`--waves "${text}" is not a list of wave sizes.`, {
      hint: 'Use whole numbers of 1 or more, with `rest` only at the end: --waves 20,200,rest.',
    });
  },
});

function readSize(text: string): number | undefined {
  const size = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(size) && size > 0 ? size : undefined;
}

const stopIfFlag = Flags.custom<StopLimit[]>({
  parse: (text) => Promise.resolve(readLimits(text)),
});

/** Reads `declined>2%,failed>1%`: the shares above which no further wave is sent. @throws UsageError */
export function readLimits(text: string): StopLimit[] {
  return text.split(',').map((part) => readLimit(part.trim(), text));
}

function readLimit(part: string, text: string): StopLimit {
  const [, name, percent] = LIMIT.exec(part) ?? [];
  const share = STOP_SHARES.find((known) => known === name);
  // Dividing by 100 would round: 0.7 / 100 is less than 0.007.
  const above = Number(`${percent}e-2`);
  if (share !== undefined && above <= 1) return { share, above };
  throw new UsageError(`--stop-if "${text}" is not a list of limits.`, {
    hint: `Example: declined>2%,failed>1%. The names are ${STOP_SHARES.join(', ')}.`,
  });
}

/** Returns text such as `declined>2%,failed>1%`; null without a limit. */
export function stopIfText(limits: readonly StopLimit[]): string | null {
  return limits.map(({ share, above }) => `${share}>${limitText(above)}`).join(',') || null;
}

/** The flags of `bulk create` that divide a run into waves. */
export const waveFlags = inGroup('WAVE', {
  waves: wavesFlag({
    description: 'send only the first wave; `bulk resume` sends the next one',
    dependsOn: ['send'],
    helpValue: '20,200,rest',
  }),
  'stop-if': stopIfFlag({
    description: 'stop before the next wave if a share exceeds its limit: declined, failed, waiting',
    dependsOn: ['waves'],
    helpValue: "'declined>2%,failed>1%'",
  }),
});

/**
 * Returns the wave that a resume begins, or undefined if it only finishes an interrupted one, which needs no check.
 * @throws StoppedError when a share of what was sent is above its limit.
 */
export async function checkNextWave(
  state: RunState,
  client: Client,
  options: { anyway: boolean },
  context: Context,
): Promise<number | undefined> {
  const { waveToBegin } = state;
  if (waveToBegin === undefined || options.anyway) return waveToBegin;
  const figures = await readShares(state, client, context.interrupt.signal);
  refuseExceeded(state.head.id, waveToBegin, figures);
  for (const figure of figures) context.terminal.notice(figureText(figure));
  return waveToBegin;
}

function refuseExceeded(runId: string, wave: number, figures: readonly ShareFigure[]): void {
  if (!figures.some(({ isExceeded }) => isExceeded)) return;
  throw new StoppedError(
    'STOP_IF',
    `Wave ${wave} of ${runId} was not sent because a --stop-if limit was exceeded.\n${figures.map(figureText).join('\n')}`,
    {
      hint: `To see who declined or is waiting, run \`${command('bulk', 'status', runId)}\`. To send the wave anyway, run \`${command('bulk', 'resume', runId, '--anyway')}\`.`,
    },
  );
}

/** Returns text such as `declined: 2 of 20 (10%), limit 2%, exceeded. Among all rows, 2.8% to 30.1% is likely, so …` */
export function figureText(figure: ShareFigure): string {
  const { share, count, of, limit, isExceeded } = figure;
  const verdict = isExceeded ? 'exceeded' : 'not exceeded';
  const text = `${share}: ${grouped(count)} of ${grouped(of)} (${percent(of === 0 ? 0 : count / of)}), limit ${limitText(limit)}, ${verdict}.`;
  return of === 0 ? text : `${text} ${certaintyText(figure)}`;
}

/** Returns what the share among these rows says about the share among all rows. */
function certaintyText({ limit, isExceeded, range: [low, high] }: ShareFigure): string {
  const likely = `The share among all rows is probably between ${percent(low)} and ${percent(high)}`;
  const isSure = isExceeded ? low > limit : high <= limit;
  return isSure ? `${likely}.` : `${likely}, so this sample is too small to be certain.`;
}

/** Returns a limit as it was given, such as `0.25%`. */
function limitText(limit: number): string {
  return `${Number((limit * 100).toPrecision(12))}%`;
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))}%`;
}

/** Returns the message for the end of a wave, with the command for the next one. */
export function waveText(state: RunState): string {
  const { head, waves, wave } = state;
  const next = state.lastOf(wave + 1) - state.lastBegun;
  return `Wave ${wave} of ${waves?.ends.length ?? 1} is done. Send the next one (${counted(next, 'row')}): \`${command('bulk', 'resume', head.id)}\`.`;
}
