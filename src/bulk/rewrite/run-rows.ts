import { isRecord } from '../../kernel/json.ts';
import { rowKeysOf } from '../lookup/earlier-rows.ts';
import { cellsHash } from '../lookup/row-key.ts';
import { bodyFields } from '../rows/row.ts';

/** The rows of a run by their cells: a row is found again wherever it is in the file. */
export class RunRows {
  readonly #rows = new Map<string, number>();

  static async read(root: string, id: string): Promise<RunRows> {
    const found = new RunRows();
    for await (const entry of rowKeysOf(root, id)) {
      if (entry.type !== 'rows') continue;
      for (const [index, [, , cells]] of entry.rows.entries()) found.#rows.set(cells, entry.from + index);
    }
    return found;
  }

  /** False for a run of an earlier version, which stored nothing of its rows. */
  get isKnown(): boolean {
    return this.#rows.size > 0;
  }

  /** The number of the row in the run; undefined for a row that it did not send, or that was changed since. */
  find(value: unknown): number | undefined {
    return isRecord(value) ? this.#rows.get(cellsHash(bodyFields(value))) : undefined;
  }
}
