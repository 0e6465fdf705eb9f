import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '..');
/** The modules of `esign-cli/client` and `esign-cli/sandbox`. */
const MODULES = { client: 'client/client', sandbox: 'sandbox/embed' };
const entryPoints = Object.values(MODULES).map((name) => join(root, 'src', `${name}.ts`));

/**
 * Writes the declarations of `esign-cli/client` and `esign-cli/sandbox`, and of everything they refer to, to dist/types. The build
 * fails if a declaration needs another package or contains `any`.
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
    const target = join(folder, relative(join(root, 'src'), source).replace(/\.ts$/, '.d.ts'));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text.replace(/(from '\.[^']*)\.ts'/g, "$1.js'"));
  }
  // Without these, TypeScript would take what `require` loads for an ES module, and refuse it in some of its modes.
  for (const [name, module] of Object.entries(MODULES))
    await writeFile(join(folder, `${name}.d.cts`), `export * from './${module}.js';\n`);
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
