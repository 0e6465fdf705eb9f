import type { Plugin } from 'esbuild';

export function lateBuiltins(text: string): string;
export const ownBuiltins: Plugin;
export const lateRequires: Plugin;
