export const NODES: { readonly 20: string; readonly 22: string; readonly 24: string; readonly 26: string };
export function nodeOf(version: string, system: string, arch: string): Promise<string>;
export const here: [system: string, arch: string];
