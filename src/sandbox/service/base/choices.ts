import { closest } from 'fastest-levenshtein';
import { type ErrorDetails, UsageError } from '../../../kernel/errors.ts';
import { OPEN_POINTS, type OpenPoint } from '../../../kernel/open-points.ts';

type ChoiceName = keyof typeof OPEN_POINTS;
/** The rules of the service: one value for every choice. */
export type Rules = { readonly [Name in ChoiceName]: (typeof OPEN_POINTS)[Name]['values'][number] };

const LISTED = new Map<string, OpenPoint>(Object.entries(OPEN_POINTS));

export const DEFAULT_RULES: Rules = completed({});

/** Returns the problems with the wanted choices, by name: unknown choices or values, each with a suggestion. */
export function problemsIn(wanted: Record<string, string>): ErrorDetails {
  const problems = Object.entries(wanted).flatMap(([name, value]): [string, string[]][] => {
    const choice = LISTED.get(name);
    if (!choice) {
      const near = closest(name, [...LISTED.keys()]);
      return [[name, [`Unknown choice ${JSON.stringify(name)}; did you mean ${near}?`]]];
    }
    if (choice.values.includes(value)) return [];
    return [
      [name, [`${name} can't be ${JSON.stringify(value)}: it must be one of ${choice.values.join(', ')}`]],
    ];
  });
  return Object.fromEntries(problems);
}

/** The current choices. Initially those that the sandbox was started with. */
export class Choices {
  readonly #atStart: Rules;
  #rules: Rules;

  /** Throws a UsageError with the invalid choice and the allowed values. */
  constructor(wanted: Record<string, string> = {}) {
    const [problem] = Object.values(problemsIn(wanted)).flat();
    if (problem !== undefined)
      throw new UsageError(`${problem}.`, { hint: 'List them all with `esign sandbox choices`.' });
    this.#atStart = completed(wanted);
    this.#rules = this.#atStart;
  }

  get rules(): Rules {
    return this.#rules;
  }

  /** Changes the given choices; `wanted` must be valid. */
  set(wanted: Record<string, string>): void {
    this.#rules = completed({ ...this.#rules, ...wanted });
  }

  restore(): void {
    this.#rules = this.#atStart;
  }

  list() {
    const values = new Map<string, string>(Object.entries(this.#rules));
    return [...LISTED].map(([name, { values: all, decides, why }]) => ({
      name,
      value: values.get(name) ?? all[0],
      default: all[0],
      values: all,
      decides,
      why,
    }));
  }
}

function completed(wanted: Record<string, string>): Rules {
  const rules = Object.fromEntries(
    [...LISTED].map(([name, { values }]) => [name, wanted[name] ?? values[0]]),
  );
  if (!areRules(rules)) throw new RangeError('not a choice');
  return rules;
}

function areRules(rules: Record<string, string>): rules is Rules {
  return [...LISTED].every(([name, { values }]) => values.includes(rules[name] ?? ''));
}
