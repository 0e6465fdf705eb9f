import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted } from '../../kernel/duration.ts';
import type { SealWithTrust } from '../seal/judge.ts';
import { sealerInWords } from './download-lines.ts';

/** How many files a terminal lists, with up to three lines each. */
const MAX_LISTED = 6;

/**
 * The files without a problem: all in a pipe, and on a terminal, where more than a few would scroll the problems away, only if they
 * are few. Of many, the terminal shows who sealed them.
 */
export class ListedFiles {
  readonly #terminal: CommandTerminal;
  readonly #mayHide: boolean;
  readonly #expected: number | undefined;
  readonly #held: string[] = [];
  /** How many files have each kind of seal, in words. */
  readonly #seals = new Map<string, number>();
  #count = 0;

  /** `expected`: the number of files; undefined if it is not known before the end. */
  constructor(terminal: CommandTerminal, expected?: number) {
    this.#terminal = terminal;
    this.#mayHide = terminal.outIsTty && !terminal.json;
    this.#expected = expected;
  }

  /** Takes a file. Returns its text if it is printed now. */
  take(text: string | undefined, seal: SealWithTrust | null): string | undefined {
    if (!this.#mayHide || text === undefined) return text;
    this.#count++;
    const words = sealInFewWords(seal);
    this.#seals.set(words, (this.#seals.get(words) ?? 0) + 1);
    if (this.#expected !== undefined) return this.isComplete() ? text : undefined;
    if (this.isComplete()) this.#held.push(text);
    return undefined;
  }

  /** Returns true if all files are listed. */
  isComplete(): boolean {
    return !this.#mayHide || (this.#expected ?? this.#count) <= MAX_LISTED;
  }

  /** Prints the files that were not printed before, if they are few. */
  async end(): Promise<void> {
    if (this.isComplete() && this.#held.length > 0)
      await this.#terminal.hidingSecrets().out(this.#held.join(''));
  }

  /** Returns who sealed the files, such as `All are sealed by X, same sealer as before (pinned).` Empty if all are listed. */
  sealersInWords(): string {
    if (this.isComplete()) return '';
    const total = this.#expected ?? this.#count;
    const parts = [...this.#seals].map(([words, count]) => {
      const [are, have] = count === 1 ? ['is', 'has'] : ['are', 'have'];
      return `${count === total ? 'All' : counted(count, 'file')} ${words === NO_SEAL ? have : are} ${words}`;
    });
    return `${parts.join('; ')}.`;
  }
}

const NO_SEAL = 'no seal';

function sealInFewWords(seal: SealWithTrust | null): string {
  if (seal === null || seal.state === 'unsigned') return NO_SEAL;
  return `sealed ${seal.coverage === 'extended' ? 'only in part ' : ''}by ${sealerInWords(seal)}`;
}
