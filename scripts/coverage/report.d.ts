import type { SourceCoverage } from './spawned.js';

export function addSpawned(inProcess: SourceCoverage, spawned: SourceCoverage): void;
