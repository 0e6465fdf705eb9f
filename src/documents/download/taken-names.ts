import { StorageError } from '../../kernel/errors.ts';
import { canonicalName } from '../archive/file-names.ts';

/** The paths of the files of one run. They are known only during the run, because a template may use values of the envelope. */
export class TakenNames {
  readonly #paths = new Set<string>();

  /** @throws StorageError STORAGE_LOCAL if another file of the run has this path (ignoring case, as some disks do). */
  take(path: string): void {
    const name = canonicalName(path);
    if (this.#paths.has(name))
      throw new StorageError(
        'STORAGE_LOCAL',
        `${path} was not saved: another file of this run has the same name.`,
        {
          hint: 'Use a --name-template that gives each file a unique name, with {envelopeId} and {what}, or with {key}.',
        },
      );
    this.#paths.add(name);
  }
}
