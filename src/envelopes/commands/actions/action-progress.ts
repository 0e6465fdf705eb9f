import { withHint } from '../../../cli/outcome-check.ts';
import { hasFlag, MAX_COPIED_IDS, rebuildCommand } from '../../../cli/rebuild-command.ts';
import { listed } from '../../../kernel/duration.ts';
import { StoppedError, UnknownOutcomeError } from '../../../kernel/errors.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import type { EnvelopeAction } from '../../plan-writes.ts';
import { REMINDER_GAP } from '../../sent-reminders.ts';

/** How far an action on several envelopes has come, to describe what is unknown after an interruption, and how to continue. */
export class ActionProgress {
  readonly #action: EnvelopeAction;
  readonly #words: readonly string[];
  readonly #ids: readonly string[];
  /** Absent: nothing was sent for it. */
  readonly #states = new Map<string, 'begun' | 'ended' | 'reported'>();
  #isStopped = false;

  /** `words`: the command as typed. */
  constructor(action: EnvelopeAction, ids: readonly string[], words: readonly string[]) {
    this.#action = action;
    this.#ids = ids;
    this.#words = words;
  }

  begun(id: string): void {
    this.#states.set(id, 'begun');
  }

  ended(id: string): void {
    this.#states.set(id, 'ended');
  }

  reported(id: string): void {
    this.#states.set(id, 'reported');
  }

  /** @throws the error for a single envelope. */
  notStarted(id: string, error: unknown): undefined {
    if (this.#ids.length === 1) throw error;
    this.#states.delete(id);
    this.#isStopped = true;
  }

  /** Returns true if no request has ended yet. */
  isFirst(): boolean {
    return this.#idsIn('ended', 'reported').length === 0;
  }

  /** @throws StoppedError with the command that continues, if some were not started. */
  throwIfStopped(): void {
    if (!this.#isStopped) return;
    const left = this.#idsIn(undefined);
    throw new StoppedError(
      'INTERRUPTED',
      `Stopped: ${left.length} of ${this.#ids.length} were not started.`,
      {
        hint: `To continue with the rest, run \`${this.#again(left)}\`.`,
      },
    );
  }

  /** Returns what is unknown or unreported if the process ends now. */
  unknown(): string {
    const open = this.#idsIn('begun');
    const unreported = this.#idsIn('ended');
    return [
      'Interrupted before the service responded.',
      ...(open.length > 0 ? [`${listed(open)} may or may not have been ${this.#action.done}.`] : []),
      ...(unreported.length > 0
        ? [`The result for ${listed(unreported)} was received but not printed.`]
        : []),
    ].join(' ');
  }

  hint(): string {
    const [only, ...others] = this.#ids;
    if (only !== undefined && others.length === 0) return this.#ifUnknown(only);
    return `To continue, run \`${this.#again(this.#idsIn('begun', 'ended', undefined))}\`.`;
  }

  /** Adds the next command to the error of a write whose outcome is unknown. */
  withHint(id: string, error: unknown): unknown {
    return error instanceof UnknownOutcomeError ? withHint(error, this.#ifUnknown(id)) : error;
  }

  /** The service refuses a second send or cancel. It doesn't return reminders, but the local log contains those that may have been sent. */
  #ifUnknown(id: string): string {
    const { name, done } = this.#action;
    const again = this.#again([id]);
    if (name === 'remind') return `To skip signers who may already have been reminded, run \`${again}\`.`;
    return `To see its status, run \`${command('envelopes', 'get', id)}\`. It is safe to run \`${again}\` again, because an envelope can't be ${done} twice.`;
  }

  /** Returns the command for these envelopes. It reminds nobody again. */
  #again(left: readonly string[]): string {
    const words = this.#words;
    const isLimited = this.#action.name !== 'remind' || hasFlag(words, '--min-gap') || hasFlag(words, '--at');
    const add = isLimited ? [] : ['--min-gap', REMINDER_GAP];
    if (left.length > MAX_COPIED_IDS) return rebuildCommand(words, { add });
    const yes = left.length > 1 && !hasFlag(words, '--yes') && !hasFlag(words, '-y') ? ['--yes'] : [];
    return rebuildCommand(words, { own: [...this.#ids, '-'], ids: left, add: [...add, ...yes] });
  }

  #idsIn(...states: readonly ('begun' | 'ended' | 'reported' | undefined)[]): string[] {
    return this.#ids.filter((id) => states.includes(this.#states.get(id)));
  }
}
