export function unsigned(bytes: Buffer): Buffer;
