const PE32_PLUS = 0x20b;

/**
 * Returns a Windows program without its signature, which becomes invalid when something is added to the program. The certificates
 * are at the end of the file; entry 4 of the data directories contains their position.
 */
export function unsigned(bytes) {
  const optional = bytes.readUInt32LE(0x3c) + 24;
  if (bytes.readUInt16LE(optional) !== PE32_PLUS) throw new Error('not a 64-bit Windows program');
  const entry = optional + 112 + 4 * 8;
  const [start, size] = [bytes.readUInt32LE(entry), bytes.readUInt32LE(entry + 4)];
  if (size === 0) return bytes;
  if (start + size !== bytes.length) throw new Error('there is data after its certificates');
  const rest = Buffer.from(bytes.subarray(0, start));
  rest.fill(0, entry, entry + 8);
  return rest;
}
