import type { Context } from '../../../cli/context.ts';
import { counted, listed } from '../../../kernel/duration.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import { maskKey } from '../../../kernel/redaction.ts';
import { writeJson } from '../../../output/json.ts';
import { safeLine } from '../../../output/text.ts';
import type { SeedResult } from '../../../sandbox-control/control.ts';
import { readSeedFile } from '../seed-file.ts';

/**
 * Puts the seed of a file into the running sandbox.
 * @throws UsageError that names line and field of each mistake.
 */
export async function seedSandbox(path: string, context: Context): Promise<void> {
  const { seed, pdfs, mistakes } = await readSeedFile(path, context.terminal);
  const templates = seed.templates?.map((one) => {
    const pdf = pdfs.get(one.id);
    return pdf === undefined ? one : { ...one, pdf: Buffer.from(pdf).toString('base64') };
  });
  const sandbox = await context.session.sandbox();
  try {
    const result = await sandbox.seed(
      { ...seed, ...(templates ? { templates } : {}) },
      context.interrupt.signal,
    );
    if (context.terminal.json) return await writeJson(result, context.terminal);
    await context.terminal.out(inWords(result));
  } catch (error) {
    throw error instanceof ServiceError && error.details ? mistakes(error.details) : error;
  }
}

function inWords({ templates, organisations, envelopes, keys }: SeedResult): string {
  const parts = [
    counted(templates, 'template'),
    counted(organisations, 'organisation'),
    counted(keys.length, 'key'),
    counted(envelopes, 'envelope'),
  ];
  const shown = keys.map(({ key, organisation }) => `  ${maskKey(key)}  ${safeLine(organisation)}\n`);
  const hint = keys.length === 0 ? '' : `Keys, whole with --json:\n${shown.join('')}`;
  return `Put in: ${listed(parts)}.\n${hint}`;
}
