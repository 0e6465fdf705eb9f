import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '..');
const doors = ['src/client/client.ts', 'src/sandbox/embed.ts'].map((file) => join(root, file));

/**
 * Writes the declarations of `esign-cli/client` and `esign-cli/sandbox`, and of everything they refer to, to dist/types, and
 * again to dist/types/cjs for programs that use `require`. The build fails if a declaration needs another package or contains
 * `any`.
 */
export async function types() {
  const declare = declarations();
  const folder = join(root, 'dist/types');
  await rm(folder, { recursive: true, force: true });
  const wanted = [...doors];
  for (const source of wanted) {
    const file = declarationOf(source);
    const text = declare(source);
    for (const name of importsOf(text)) {
      if (!name.startsWith('.')) throw new Error(`the types of ${file} need ${name}`);
      const next = join(dirname(source), name);
      if (!wanted.includes(next)) wanted.push(next);
    }
    if (/\bany\b/.test(withoutComments(text))) throw new Error(`the types of ${file} contain any`);
    const declaration = text.replace(/(from '\.[^']*)\.ts'/g, "$1.js'");
    for (const format of ['.', 'cjs']) {
      const target = join(folder, format, relative(join(root, 'src'), file));
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, declaration);
    }
  }
  // The nearest package.json determines the module format that a declaration describes.
  await writeFile(join(folder, 'cjs/package.json'), '{"type":"commonjs"}\n');
}

/** Returns a function that creates the declarations of a source file, so that only those needed are created. */
function declarations() {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const program = ts.createProgram(doors, {
    ...options,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    incremental: false,
    // The linter checks the types.
    noCheck: true,
    tsBuildInfoFile: undefined,
  });
  return (file) => {
    let declared;
    const write = (_name, text) => {
      declared = text;
    };
    const { diagnostics } = program.emit(program.getSourceFile(file), write, undefined, true);
    if (diagnostics.length > 0) throw new Error(ts.formatDiagnostics(diagnostics, ts.createCompilerHost({})));
    if (declared === undefined) throw new Error(`${file} has no declarations`);
    return declared;
  };
}

function declarationOf(file) {
  return file.replace(/\.ts$/, '.d.ts');
}

function importsOf(text) {
  return ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
}

function withoutComments(text) {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
}
