/** A coverage map of istanbul-lib-coverage. */
export interface SourceCoverage {
  files(): string[];
  fileCoverageFor(file: string): { getUncoveredLines(): string[]; toSummary(): { toJSON(): unknown } };
}

export function spawnedCoverage(
  raw: string,
  dist: string,
  root: string,
): Promise<{ map: SourceCoverage; processes: number; torn: number }>;

export function addSpawned(inProcess: SourceCoverage, spawned: SourceCoverage): void;
