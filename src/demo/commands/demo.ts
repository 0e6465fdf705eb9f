import { rm, rmdir } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { EsignCommand } from '../../cli/command.ts';
import { textFlag } from '../../cli/flags.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import { diskReason } from '../../kernel/files/disk-reason.ts';
import { makeFolder } from '../../kernel/files/folder.ts';
import { createTemporary } from '../../kernel/files/temporary-folder.ts';
import { isExecutable } from '../../kernel/process/is-executable.ts';
import { isOnPath } from '../../kernel/process/on-path.ts';
import { shellWord } from '../../kernel/text/shell-words.ts';
import { writeJson } from '../../output/json.ts';
import { startSpinner } from '../../output/spinner.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';
import { childCommandLine } from '../child-command-line.ts';
import { type DemoStep, type DemoSummary, runDemo } from '../steps.ts';

export default class Demo extends EsignCommand {
  static override summary = 'Run an end-to-end demo: sandbox, webhooks, create, sign, watch, download.';
  static override description =
    'Runs in its own folder, needs no account, and changes none of your profiles. The signed documents stay in the folder for you to open.';
  static override examples = [
    '<%= config.bin %> demo',
    '<%= config.bin %> demo --dir ./demo',
    '<%= config.bin %> demo --json',
  ];
  static override flags = {
    dir: textFlag('DIR', 'folder for the documents (default: a new temporary folder)'),
  };

  async run(): Promise<void> {
    const { flags, terminal, interrupt } = await this.start(Demo);
    const { dir } = flags;
    const folder = dir === undefined ? await createTemporary('esign-demo-') : madeFolder(resolve(dir));
    const own = await createTemporary('esign-demo-own-');
    const env = { ESIGN_CONFIG_DIR: own, ESIGN_STATE_DIR: own };
    const cli = childCommandLine(programCommand(), env, interrupt.signal);
    const steps = runDemo(cli, folder, own);
    const spinner = await startSpinner('Starting', terminal, terminal.json);
    try {
      for (let number = 1; ; number++) {
        const next = await steps.next();
        if (next.done) return await (next.value && end(next.value, terminal));
        await spinner.aside(() => printStep(next.value, number, terminal));
        if (interrupt.signal.aborted) throw interrupt.signal.reason;
      }
    } finally {
      spinner.stop();
      // If the demo is left early, stops what it has started.
      await steps.return(undefined);
      await rm(own, { recursive: true, force: true });
      // Removes the new temporary folder if it is still empty.
      if (dir === undefined) await rmdir(folder).catch(() => undefined);
    }
  }
}

function madeFolder(path: string): string {
  try {
    makeFolder(path);
    return path;
  } catch (error) {
    throw new UsageError(`Can't create the folder ${path} (${diskReason(error)}).`, {
      cause: error,
      hint: 'Use a different folder with --dir.',
    });
  }
}

/** Returns the command that runs this program. A standalone executable has no separate script. */
function programCommand(): string[] {
  return isExecutable() ? [process.execPath] : [process.execPath, process.argv[1] ?? ''];
}

/** Returns how to call this program in examples: by its name only if it is on PATH. */
function howToCall(): string {
  if (isOnPath('esign')) return 'esign';
  const [script = process.execPath] = programCommand().slice(-1);
  if (isExecutable()) return shellWord(script);
  if (/[\\/]_npx[\\/]/.test(script)) return 'npx esign-cli';
  return `node ${shellWord(relative(process.cwd(), script))}`;
}

function printStep(step: DemoStep, number: number, terminal: CommandTerminal): Promise<void> {
  return terminal.json ? Promise.resolve() : terminal.out(renderDemoStep(step, number, terminal));
}

function end(summary: DemoSummary, terminal: CommandTerminal): Promise<void> {
  return terminal.json
    ? writeJson(summary, terminal)
    : terminal.out(renderDemoEnd(summary, howToCall(), terminal));
}

/** Renders a step of the demo: its title, the command, and the result. */
function renderDemoStep(step: DemoStep, number: number, terminal: Terminal): string {
  const lines = [`${terminal.style('bold', `${String(number).padStart(2)}  ${safeLine(step.title)}`)}`];
  if (step.command) lines.push(`    ${terminal.style('cyan', `$ ${safeLine(step.command)}`)}`);
  for (const line of step.outcome) lines.push(`    ${safeLine(line)}`);
  return `${lines.join('\n')}\n\n`;
}

/** Renders where the documents are, and the next steps. `program` is how to call this program. */
function renderDemoEnd(summary: DemoSummary, program: string, terminal: Terminal): string {
  const opener = { darwin: 'open', win32: 'start' }[String(process.platform)] ?? 'xdg-open';
  const open = process.platform === 'win32' || isOnPath(opener) ? `${opener} ` : '';
  const signed = summary.files.find((file) => file.what === 'signed')?.path ?? summary.folder;
  return [
    `${terminal.style('green', '✓')} From template to signed document in ${counted(summary.seconds, 'second')}.\n\n`,
    `Open the document:    ${open}${safeLine(signed)}\n`,
    `Try it yourself:      ${safeLine(program)} sandbox start\n`,
    `Use the real service: ${safeLine(program)} profiles add\n`,
  ].join('');
}
