import { isRecord } from '../../kernel/json.ts';
import { rowKeysOf } from '../lookup/earlier-rows.ts';
import { cellsHash } from '../lookup/row-key.ts';
import { bodyFields } from '../rows/row.ts';

/** The rows of a run by their cells. A row is found wherever it is in the file. */
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

  /** False for a run of an earlier version, which did not store its row keys. */
  get isKnown(): boolean {
    return this.#rows.size > 0;
  }

  /** Returns the number of the row in the run, or undefined if the run did not send it or it was changed since. */
  find(value: unknown): number | undefined {
    return isRecord(value) ? this.#rows.get(cellsHash(bodyFields(value))) : undefined;
  }
}
