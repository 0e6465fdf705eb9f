interface Metafile {
  outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }>;
}
export function inputsOf(metafile: Metafile): string[];
export function packagesOf(paths: readonly string[]): string[];
