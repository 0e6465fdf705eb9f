import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '..');
const entryPoints = ['src/client/client.ts', 'src/sandbox/embed.ts'].map((file) => join(root, file));

/**
 * Writes the declarations of `esign-cli/client` and `esign-cli/sandbox`, and of everything they refer to, to dist/types, and
 * again to dist/types/cjs for programs that use `require`. The build fails if a declaration needs another package or contains
 * `any`.
 */
export async function types() {
  const program = programOf(entryPoints);
  const folder = join(root, 'dist/types');
  await rm(folder, { recursive: true, force: true });
  const wanted = new Set(entryPoints);
  for (const source of wanted) {
    const text = declarationsOf(program, source);
    for (const { fileName: name } of ts.preProcessFile(text).importedFiles) {
      if (!name.startsWith('.')) throw new Error(`the types of ${source} need ${name}`);
      wanted.add(join(dirname(source), name));
    }
    if (/\bany\b/.test(text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')))
      throw new Error(`the types of ${source} contain any`);
    for (const format of ['.', 'cjs']) {
      const name = relative(join(root, 'src'), source).replace(/\.ts$/, '.d.ts');
      const target = join(folder, format, name);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, text.replace(/(from '\.[^']*)\.ts'/g, "$1.js'"));
    }
  }
  // The nearest package.json determines the module format that a declaration describes.
  await writeFile(join(folder, 'cjs/package.json'), '{"type":"commonjs"}\n');
}

function programOf(files) {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  return ts.createProgram(files, {
    ...options,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    incremental: false,
    // The linter checks the types.
    noCheck: true,
    tsBuildInfoFile: undefined,
  });
}

/** Returns the declarations of one source file, so that only those needed are created. */
function declarationsOf(program, file) {
  let declared;
  const write = (_name, text) => {
    declared = text;
  };
  const { diagnostics } = program.emit(program.getSourceFile(file), write, undefined, true);
  if (diagnostics.length > 0) throw new Error(ts.formatDiagnostics(diagnostics, ts.createCompilerHost({})));
  if (declared === undefined) throw new Error(`${file} has no declarations`);
  return declared;
}
