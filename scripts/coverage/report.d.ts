import type { SourceCoverage } from './spawned.js';

export interface Count {
  total: number;
  covered: number;
}

export interface ReachedFile {
  file: string;
  lines: Count;
  inProcess: Count;
  spawned: Count;
  functions: Count;
  missed: string[];
}

export function reachedFiles(inProcess: SourceCoverage, spawned: SourceCoverage, root: string): ReachedFile[];
export function reportText(files: readonly ReachedFile[]): string;
