import { isatty } from 'node:tty';
import { type Installation, versionIn } from '../cli/boot/installation.ts';
import { isRecord, parseJson } from '../kernel/json.ts';
import { type Assets, Files } from './files.ts';
import { Program } from './program.ts';

/** The executable's own beginning: what bin/run.js is to the package. */
export async function start(
  assets: Assets,
  argv: string[],
  onProgram?: (program: Program) => void,
): Promise<void> {
  const ready = readyAnswer(assets, argv);
  if (ready !== undefined) {
    process.stdout.write(ready);
    return;
  }
  const { id, files: names, needsFiles } = contentsOf(assets);
  const files = new Files(assets, id, names);
  const program = new Program(assets, files, needsFiles);
  onProgram?.(program);
  const [first, ...rest] = argv;
  if (first === '__complete') {
    await call(program.load('dist/cli/autocomplete/complete.js'), 'main', rest, files.unpack());
  } else if (first === '__update') {
    await call(program.load('dist/cli/boot/update-check.js'), 'main');
  } else {
    await call(program.load('dist/cli/main.js'), 'runInstalled', argv, installation(assets, files, program));
  }
}

function installation(assets: Assets, files: Files, program: Program): Installation {
  return {
    root: () => files.unpack(),
    version: () => versionIn(assets.text('files/package.json')),
    command: (words) => {
      const path = `dist/commands/${words.join('/')}.js`;
      return program.has(path) ? () => Promise.resolve(program.load(path)) : undefined;
    },
  };
}

/** The version, and a page of help for a pipe, which the build has written already. */
function readyAnswer(assets: Assets, argv: readonly string[]): string | undefined {
  if (/^(--version|-V)$/.test(argv.join(' '))) {
    const version = versionIn(assets.text('files/package.json'));
    return `esign-cli/${version} ${process.platform}-${process.arch} node-${process.version}\n`;
  }
  const words = argv.filter((word) => word !== '--help' && word !== '-h');
  const plain = words.every((word) => /^[a-z][a-z-]*$/.test(word));
  if (words.length === argv.length || !plain || isatty(1)) return undefined;
  if (process.env.FORCE_COLOR || process.env.OCLIF_COLUMNS) return undefined;
  const page = `help/${words.join(' ') || 'esign'}.txt`;
  return assets.has(page) ? assets.text(page) : undefined;
}

interface Contents {
  id: string;
  files: string[];
  needsFiles: string[];
}

/** The list of contents that scripts/standalone.js writes. */
function contentsOf(assets: Assets): Contents {
  const read = parseJson(assets.text('contents.json'));
  if (!isRecord(read) || typeof read.id !== 'string') throw new Error('the executable is damaged');
  return { id: read.id, files: textsIn(read.files), needsFiles: textsIn(read.needsFiles) };
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

async function call(module: unknown, name: string, ...args: unknown[]): Promise<void> {
  const found: unknown = isRecord(module) ? module[name] : undefined;
  if (typeof found !== 'function') throw new Error(`the executable is damaged: ${name} is missing`);
  await Reflect.apply(found, undefined, args);
}
