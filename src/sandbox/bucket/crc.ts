/*
 * The two checksums of S3 that Node has no function for, table-driven and incremental: both are reflected,
 * start with all ones and end inverted.
 */

const CRC32C_POLYNOMIAL = 0x82f63b78;
const CRC64NVME_POLYNOMIAL = { high: 0x9a6c9329, low: 0xac4bc9b5 };

const crc32cTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ CRC32C_POLYNOMIAL : value >>> 1;
  return value;
});

const crc64Low = new Uint32Array(256);
const crc64High = new Uint32Array(256);
for (let byte = 0; byte < 256; byte++) {
  let low = byte;
  let high = 0;
  for (let bit = 0; bit < 8; bit++) {
    const odd = low & 1;
    low = (low >>> 1) | (high << 31);
    high >>>= 1;
    if (odd) {
      low ^= CRC64NVME_POLYNOMIAL.low;
      high ^= CRC64NVME_POLYNOMIAL.high;
    }
  }
  crc64Low[byte] = low;
  crc64High[byte] = high;
}

/** CRC-32C (Castagnoli). */
export class Crc32c {
  private state = 0xffffffff;

  update(bytes: Uint8Array): void {
    let state = this.state;
    for (const byte of bytes) state = (state >>> 8) ^ (crc32cTable[(state ^ byte) & 0xff] ?? 0);
    this.state = state;
  }

  /** Four bytes, big-endian. */
  digest(): Buffer {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(~this.state >>> 0);
    return bytes;
  }
}

/** CRC-64/NVME, in two halves of 32 bits, since BigInt would be slow. */
export class Crc64Nvme {
  private low = 0xffffffff;
  private high = 0xffffffff;

  update(bytes: Uint8Array): void {
    let { low, high } = this;
    for (const byte of bytes) {
      const at = (low ^ byte) & 0xff;
      low = ((low >>> 8) | (high << 24)) ^ (crc64Low[at] ?? 0);
      high = (high >>> 8) ^ (crc64High[at] ?? 0);
    }
    this.low = low;
    this.high = high;
  }

  /** Eight bytes, big-endian. */
  digest(): Buffer {
    const bytes = Buffer.alloc(8);
    bytes.writeUInt32BE(~this.high >>> 0, 0);
    bytes.writeUInt32BE(~this.low >>> 0, 4);
    return bytes;
  }
}
