import type { DocumentMaker, ObjectWriter } from '../../model.ts';
import type { Faults } from './faults.ts';

/** Returns access to the bucket that tampers with sealed documents according to the faults. */
export function tamperedObjects(
  objects: ObjectWriter,
  faults: Faults,
  documents: DocumentMaker,
): ObjectWriter {
  return {
    async put(key, body, contentType) {
      const isSealed = Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes('/ByteRange');
      const how = isSealed ? faults.forDocument(key) : null;
      await objects.put(key, how === null ? body : await documents.tampered(body, how), contentType);
    },
    get: (key) => objects.get(key),
    clear: (keys) => objects.clear(keys),
    save: (folder) => objects.save(folder),
    restore: (folder) => objects.restore(folder),
    onMiss: (listener) => objects.onMiss(listener),
  };
}
