/**
 * Sixteen hexadecimal digits that name a text among others, the same in every process. It proves nothing, and of a long
 * secret its 64 bits tell far too little to find it again; a real digest would load the whole of Node's crypto for a name.
 */
export function checksumOf(text: string): string {
  let [one, two] = [0x243f6a88, 0x85a308d3];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    one = Math.imul(one ^ unit, 0x9e3779b1);
    two = Math.imul(two ^ unit, 0x85ebca77);
  }
  const [left, right] = [mixed(one, two), mixed(two, one)];
  return [left, right].map((part) => (part >>> 0).toString(16).padStart(8, '0')).join('');
}

/** Lets every bit of both decide on every bit of the result. */
function mixed(one: number, two: number): number {
  const first = Math.imul(one ^ (one >>> 16), 0x85ebca6b) ^ Math.imul(two ^ (two >>> 13), 0xc2b2ae35);
  const last = Math.imul(first ^ (first >>> 15), 0x2c1b3c6d);
  return last ^ (last >>> 16);
}
