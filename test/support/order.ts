import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that mostly wait. Vitest starts large files first, and these are small. */
const WAITING =
  /\/(bulk-request-ids|closed-pipes|docs|drill|errors|find-many|forwarding|listen(er)?-health|lost-replies|own-templates|receiver-abuse|stopped-writes|waiting|watch)\.test\.ts$/;

/** Starts the files that take longest first, so that no worker still waits for one at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => Number(waits(other)) - Number(waits(one)));
  }
}

function waits({ moduleId }: TestSpecification): boolean {
  return WAITING.test(moduleId);
}
