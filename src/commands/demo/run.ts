import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import type { Context } from '../../cli/context.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { childCommandLine } from '../../demo/child-command-line.ts';
import { type DemoStep, type DemoSummary, runDemo } from '../../demo/demo.ts';
import { UsageError } from '../../kernel/errors.ts';
import { diskReason } from '../../kernel/files/disk-reason.ts';
import { makeFolder } from '../../kernel/files/folder.ts';
import { isExecutable } from '../../kernel/process/is-executable.ts';
import { isOnPath } from '../../kernel/process/on-path.ts';
import { shellWord } from '../../kernel/text/shell-words.ts';
import { writeJson } from '../../output/json.ts';
import { startSpinner } from '../../output/spinner.ts';
import { renderDemoEnd, renderDemoStep } from './view.ts';

function madeFolder(path: string): string {
  try {
    makeFolder(path);
    return path;
  } catch (error) {
    throw new UsageError(`Can't create the folder ${path} (${diskReason(error)}).`, {
      cause: error,
      hint: 'Use another folder with --dir.',
    });
  }
}

/** Runs the demo and shows each step. With --json, shows only the summary. */
export async function showDemo(dir: string | undefined, context: Context): Promise<void> {
  const folder = dir === undefined ? await mkdtemp(join(tmpdir(), 'esign-demo-')) : madeFolder(resolve(dir));
  const own = await mkdtemp(join(tmpdir(), 'esign-demo-own-'));
  const env = { ESIGN_CONFIG_DIR: own, ESIGN_STATE_DIR: own };
  const cli = childCommandLine(ownProgram(), env, context.interrupt.signal);
  const steps = runDemo(cli, folder, own);
  const spinner = await startSpinner('Starting', context.terminal, context.terminal.json);
  try {
    for (let number = 1; ; number++) {
      const next = await steps.next();
      if (next.done) return await end(next.value, context.terminal);
      await spinner.aside(() => printStep(next.value, number, context.terminal));
      if (context.interrupt.signal.aborted) throw context.interrupt.signal.reason;
    }
  } finally {
    spinner.stop();
    // If the demo is left early, stops what it has started.
    await steps.return(noSummary);
    await rm(own, { recursive: true, force: true });
  }
}

/** Returns the command that runs this program. A standalone executable has no separate script. */
function ownProgram(): string[] {
  return isExecutable() ? [process.execPath] : [process.execPath, process.argv[1] ?? ''];
}

/** Returns how to call this program in examples: by its name only if it is on PATH. */
function howToCall(): string {
  if (isOnPath('esign')) return 'esign';
  const [script = process.execPath] = ownProgram().slice(-1);
  if (isExecutable()) return shellWord(script);
  if (/[\\/]_npx[\\/]/.test(script)) return 'npx esign-cli';
  return `node ${shellWord(relative(process.cwd(), script))}`;
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

function printStep(step: DemoStep, number: number, terminal: CommandTerminal): Promise<void> {
  return terminal.json ? Promise.resolve() : terminal.out(renderDemoStep(step, number, terminal));
}

function end(summary: DemoSummary, terminal: CommandTerminal): Promise<void> {
  return terminal.json
    ? writeJson(summary, terminal)
    : terminal.out(renderDemoEnd(summary, howToCall(), terminal));
}
