/** Smaller pieces are not worth keeping apart. */
const LEAST = 16 * 1024;
/** Memory kept for the next object, at most. */
const KEPT = 32 * 1024 * 1024;

/** An object's bytes in memory; whoever has them last gives the memory back. */
export interface Whole {
  bytes: Uint8Array;
  release(): void;
}

/**
 * Memory that both threads see, used over and over: new memory for each object would cost more than reading the
 * object into it, and be collected late.
 */
export class Slabs {
  private readonly free = new Map<number, SharedArrayBuffer[]>();
  private kept = 0;

  take(length: number): Whole {
    const size = sizeFor(length);
    const slab = this.free.get(size)?.pop();
    if (slab !== undefined) this.kept -= size;
    const buffer = slab ?? new SharedArrayBuffer(size);
    let held = true;
    const release = () => {
      if (held) this.give(buffer);
      held = false;
    };
    return { bytes: new Uint8Array(buffer, 0, length), release };
  }

  private give(buffer: SharedArrayBuffer): void {
    const size = buffer.byteLength;
    if (this.kept + size > KEPT) return;
    this.kept += size;
    const same = this.free.get(size);
    if (same === undefined) this.free.set(size, [buffer]);
    else same.push(buffer);
  }
}

function sizeFor(length: number): number {
  let size = LEAST;
  while (size < length) size *= 2;
  return size;
}
