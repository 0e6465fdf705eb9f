/** How the service's list lags behind. Every envelope is listed a minute after its creation at the latest. */
export const LAGS = ['none', 'together', 'any', 'each'] as const;
/**
 * - `none`: a list shows everything.
 * - `together`: a list shows older envelopes with newer ones, and between two readings of a process, it falls behind by less than
 *   half a second more.
 * - `any`: the same, but each reading falls behind as it likes.
 * - `each`: each envelope appears at its own time, and then stays.
 */
type Lag = (typeof LAGS)[number];

/** How often each kind of trouble may occur in a schedule. */
export interface Budgets {
  /** Processes that are killed and started again. */
  kills: number;
  /** Kills after which the machine has lost its log and journal. */
  wipes: number;
  /** Replies that are lost. */
  losses: number;
  /** Processes that are started again after they failed. */
  reruns: number;
  /** Drafts that a person cancels in the service's dashboard. */
  cancels: number;
  /** Times at which time passes although a process could continue. */
  passes: number;
  /** Requests that are processed long before their replies arrive. */
  slow: number;
  /** Times at which another process continues although the last one could. */
  switches: number;
}

/** The world of an exploration. The options at each point, and so the meaning of a schedule, depend on it. */
export interface Settings extends Budgets {
  processes: number;
  /** Processes beyond this number share the machine (log and journal) of an earlier one. */
  machines: number;
  lag: Lag;
  /** An envelope's `createdAt` may be 1.4 s too late, so that its order is wrong. */
  skew: boolean;
}

export const DEFAULTS: Settings = {
  processes: 2,
  machines: 2,
  lag: 'none',
  skew: false,
  kills: 0,
  wipes: 0,
  losses: 0,
  reruns: 0,
  cancels: 0,
  passes: 0,
  slow: 0,
  switches: Number.POSITIVE_INFINITY,
};

const LETTERS = {
  p: 'processes',
  m: 'machines',
  k: 'kills',
  w: 'wipes',
  l: 'losses',
  r: 'reruns',
  c: 'cancels',
  t: 'passes',
  s: 'slow',
  x: 'switches',
} as const;

type Counted = (typeof LETTERS)[keyof typeof LETTERS];
export const COUNTED: readonly Counted[] = Object.values(LETTERS);

/** Returns the settings as text without spaces, such as `p2,m2,k1,each`. */
export function formatSettings(settings: Settings): string {
  const counts = Object.entries(LETTERS)
    .filter(([, name]) => settings[name] !== DEFAULTS[name])
    .map(([letter, name]) => `${letter}${settings[name]}`);
  return [
    ...counts,
    ...(settings.lag === DEFAULTS.lag ? [] : [settings.lag]),
    ...(settings.skew ? ['skew'] : []),
  ].join(',');
}

/** @throws Error for text that `formatSettings` doesn't return. */
export function parseSettings(text: string): Settings {
  const settings = { ...DEFAULTS };
  for (const word of text.split(',').filter((one) => one !== '')) {
    const [, letter = '', number] = /^(\w)(\d+)$/.exec(word) ?? [];
    const name = Object.entries(LETTERS).find(([one]) => one === letter)?.[1];
    const lag = LAGS.find((one) => one === word);
    if (name !== undefined) settings[name] = Number(number);
    else if (lag !== undefined) settings.lag = lag;
    else if (word === 'skew') settings.skew = true;
    else throw new Error(`Unknown setting: ${word}`);
  }
  return settings;
}

/** Returns choices as text: zeros in a row are `0xN`, and zeros at the end are left out. */
export function formatChoices(choices: readonly number[]): string {
  const end = choices.findLastIndex((one) => one !== 0) + 1;
  const text = choices.slice(0, end).join('.');
  return text.replace(
    /(?<![\d.])0(?:\.0)+(?!\d)|(?<=\.)0(?:\.0)+(?!\d)/g,
    (zeros) => `0x${(zeros.length + 1) / 2}`,
  );
}

/** @throws Error for text that `formatChoices` doesn't return. */
export function parseChoices(text: string): number[] {
  if (text === '') return [];
  return text.split('.').flatMap((word) => {
    const [, digit = '', times = '1'] = /^(\d+)(?:x(\d+))?$/.exec(word) ?? [];
    if (digit === '') throw new Error(`Not a schedule: ${word}`);
    return Array.from({ length: Number(times) }, () => Number(digit));
  });
}
