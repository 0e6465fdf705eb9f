import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isSea } from 'node:sea';
import { childCommandLine } from '../demo/child-command-line.ts';
import { type DemoStep, type DemoSummary, runDemo } from '../demo/demo.ts';
import { renderDemoEnd, renderDemoStep } from '../output/demo-view.ts';
import { writeJson } from '../output/json.ts';
import { startSpinner } from '../output/spinner.ts';
import type { Surroundings } from './surroundings.ts';

/** Runs the demo and tells what it does as it does it; with --json only the summary. */
export async function showDemo(dir: string | undefined, around: Surroundings): Promise<void> {
  const folder = resolve(dir ?? (await mkdtemp(join(tmpdir(), 'esign-demo-'))));
  await mkdir(folder, { recursive: true });
  const own = await mkdtemp(join(tmpdir(), 'esign-demo-own-'));
  const env = { ESIGN_CONFIG_DIR: own, ESIGN_STATE_DIR: own };
  const cli = childCommandLine(ownProgram(), env, around.signal);
  const steps = runDemo(cli, folder, own);
  const spinner = await startSpinner('Starting', around.terminal, around.json);
  try {
    for (let number = 1; ; number++) {
      const next = await steps.next();
      if (next.done) return await end(next.value, around);
      await spinner.aside(() => tell(next.value, number, around));
      if (around.signal.aborted) throw around.signal.reason;
    }
  } finally {
    spinner.stop();
    // Stops what the demo started when it is left early.
    await steps.return(noSummary);
    await rm(own, { recursive: true, force: true });
  }
}

/** A standalone executable is its own script. */
function ownProgram(): string[] {
  return isSea() ? [process.execPath] : [process.execPath, process.argv[1] ?? ''];
}

const noSummary: DemoSummary = {
  folder: '',
  envelopeId: '',
  status: '',
  signers: [],
  webhooks: { received: 0, verified: 0, events: [] },
  files: [],
  seconds: 0,
};

function tell(step: DemoStep, number: number, around: Surroundings): Promise<void> {
  return around.json ? Promise.resolve() : around.terminal.out(renderDemoStep(step, number, around.terminal));
}

function end(summary: DemoSummary, around: Surroundings): Promise<void> {
  return around.json
    ? writeJson(summary, around.terminal)
    : around.terminal.out(renderDemoEnd(summary, around.terminal));
}
