import { crc32 } from 'node:zlib';

/** An incremental checksum. Its digest is big-endian, as S3 expects. */
export interface Crc {
  update(bytes: Uint8Array): void;
  digest(): Buffer;
}

/** Creates a CRC-32 as used in zip files, computed by Node. */
export function createCrc32(): Crc {
  let value = 0;
  return {
    update: (bytes) => {
      value = crc32(bytes, value);
    },
    digest: () => bigEndian([value]),
  };
}

const CRC32C_POLYNOMIAL = 0x82f63b78;
let castagnoli: Uint32Array | undefined;

export function createCrc32c(): Crc {
  castagnoli ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? CRC32C_POLYNOMIAL : 0);
    return value;
  });
  const table = castagnoli;
  let value = 0xffffffff;
  return {
    update: (bytes) => {
      for (const byte of bytes) value = (value >>> 8) ^ (table[(value ^ byte) & 0xff] ?? 0);
    },
    digest: () => bigEndian([~value >>> 0]),
  };
}

/** The polynomial of CRC-64/NVME, reflected, in two halves because 64-bit integers are many times slower. */
const NVME_HIGH = 0x9a6c9329;
const NVME_LOW = 0xac4bc9b5;
let nvme: { high: Uint32Array; low: Uint32Array } | undefined;

function nvmeTable(): { high: Uint32Array; low: Uint32Array } {
  const table = { high: new Uint32Array(256), low: new Uint32Array(256) };
  for (let byte = 0; byte < 256; byte++) {
    let high = 0;
    let low = byte;
    for (let bit = 0; bit < 8; bit++) {
      const carry = low & 1;
      low = (low >>> 1) | (high << 31);
      high >>>= 1;
      if (carry) {
        high ^= NVME_HIGH;
        low ^= NVME_LOW;
      }
    }
    table.high[byte] = high;
    table.low[byte] = low;
  }
  return table;
}

/** Creates a CRC-64/NVME, which AWS computes if the uploader sends no checksum. */
export function createCrc64Nvme(): Crc {
  nvme ??= nvmeTable();
  const table = nvme;
  let high = 0xffffffff;
  let low = 0xffffffff;
  return {
    update: (bytes) => {
      for (const byte of bytes) {
        const index = (low ^ byte) & 0xff;
        low = ((low >>> 8) | (high << 24)) ^ (table.low[index] ?? 0);
        high = (high >>> 8) ^ (table.high[index] ?? 0);
      }
    },
    digest: () => bigEndian([~high >>> 0, ~low >>> 0]),
  };
}

function bigEndian(words: readonly number[]): Buffer {
  const bytes = Buffer.alloc(words.length * 4);
  for (const [index, word] of words.entries()) bytes.writeUInt32BE(word >>> 0, index * 4);
  return bytes;
}
