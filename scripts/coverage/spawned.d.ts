/** A map of istanbul-lib-coverage. */
export interface SourceCoverage {
  files(): string[];
}

export function spawnedCoverage(
  raw: string,
  dist: string,
  root: string,
): Promise<{ map: SourceCoverage; processes: number; torn: number }>;
