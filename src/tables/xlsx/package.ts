import { crc32 } from 'node:zlib';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { EsignError, messageOf, UsageError } from '../../kernel/errors.ts';
import { BodyLimitError, readBounded } from '../../kernel/streams.ts';
import { SHEET_LIMITS } from './limits.ts';

/** The parts of an .xlsx file by path. A part is unpacked while it is read. */
export class Package {
  readonly #name: string;
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(name: string, zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#name = name;
    this.#zip = zip;
    this.#entries = entries;
  }

  /** @throws UsageError when the file is damaged, or larger than the limits. */
  static async open(bytes: AsyncIterable<Uint8Array>, name: string): Promise<Package> {
    const buffer = await readBounded(bytes, SHEET_LIMITS.bytes).catch((error: unknown) => {
      throw error instanceof BodyLimitError ? tooLarge(name) : error;
    });
    return readable(name, async () => {
      const zip = await fromBufferPromise(buffer, { lazyEntries: true, autoClose: false });
      const entries = new Map<string, Entry>();
      let size = 0;
      for await (const entry of zip.eachEntry()) {
        // The sizes are checked again while a part is unpacked, since those in the directory may be wrong.
        size += entry.uncompressedSize;
        if (size > SHEET_LIMITS.bytes) throw tooLarge(name);
        entries.set(entry.fileName.toLowerCase(), entry);
      }
      return new Package(name, zip, entries);
    });
  }

  has(path: string): boolean {
    return this.#entries.has(path.toLowerCase());
  }

  /** Yields the bytes of a part, or none if it doesn't exist. */
  async *part(path: string): AsyncGenerator<Uint8Array, void, undefined> {
    const entry = this.#entries.get(path.toLowerCase());
    if (entry === undefined) return;
    const stream = await this.#zip.openReadStreamPromise(entry);
    let checksum = 0;
    for await (const chunk of stream) {
      if (!(chunk instanceof Uint8Array)) continue;
      checksum = crc32(chunk, checksum);
      yield chunk;
    }
    if (checksum !== entry.crc32) throw new Error(`the checksum of ${path} is wrong`);
  }

  /** Runs `work` and reports its errors as damage to the file. */
  reading<T>(work: () => Promise<T>): Promise<T> {
    return readable(this.#name, work);
  }
}

async function readable<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EsignError) throw error;
    throw new UsageError(`${name} is damaged: ${messageOf(error).replace(/\.$/, '')}.`, {
      cause: error,
      hint: 'Open it in a spreadsheet program and save it as .xlsx again. Nothing was sent.',
    });
  }
}

function tooLarge(name: string): UsageError {
  return new UsageError(`${name} is larger than ${SHEET_LIMITS.bytes / 1024 / 1024} MB when unpacked.`, {
    hint: 'Remove pictures and unused sheets, or save the sheet as CSV. Nothing was sent.',
  });
}
