import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

/*
 * The bundler splits what several commands share into many small files, and each file a command loads costs it about half
 * a millisecond. Files that are loaded together anyway are put together here; the others import from the whole.
 */
const IMPORT = /import\{([^}]*)\}from"([^"]*)";?/g;
const BARE = /import"([^"]*)";?/g;

/**
 * @param {string} root the repository
 * @param {import('esbuild').Metafile} metafile of the first build
 * @param {Record<string, string[]>} groups name of a new file, and the files whose static imports it takes in
 */
export async function mergeChunks(root, { outputs }, groups) {
  const taken = new Map();
  for (const [name, entries] of Object.entries(groups)) {
    const members = chunksOf(entries, outputs).filter((file) => !taken.has(file));
    await writeGroup(root, name, members, outputs);
    for (const file of members) taken.set(file, name);
  }
  for (const file of Object.keys(outputs).filter((one) => one.endsWith('.js') && !taken.has(one)))
    await redirect(join(root, file), taken);
  for (const name of Object.keys(groups)) await redirect(join(root, 'dist/chunks', `${name}.js`), taken);
  for (const [file, name] of taken) await writeFile(join(root, file), standIn(file, name, outputs));
  return taken;
}

/** The chunks that files import statically, each after those that it imports itself. */
function chunksOf(entries, outputs) {
  const seen = new Set();
  const visit = (file) => {
    if (seen.has(file)) return;
    for (const { path, kind } of outputs[file].imports)
      if (kind === 'import-statement' && outputs[path]) visit(path);
    seen.add(file);
  };
  for (const entry of entries) visit(entry);
  return [...seen].filter((file) => file.startsWith('dist/chunks/'));
}

async function writeGroup(root, name, members, outputs) {
  const own = new Set(members.map((file) => basename(file)));
  const contents = members.map((file) => {
    const names = outputs[file].exports.map((one) => `${one} as ${nameIn(file, one)}`);
    return `export {${names.join(',')}} from "./${basename(file)}";\nimport "./${basename(file)}";`;
  });
  await build({
    stdin: { contents: contents.join('\n'), resolveDir: join(root, 'dist/chunks') },
    outfile: join(root, 'dist/chunks', `${name}.js`),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    minify: true,
    legalComments: 'inline',
    logLevel: 'warning',
    plugins: [
      {
        name: 'members',
        setup: ({ onResolve }) =>
          onResolve({ filter: /.*/ }, ({ path, kind }) => {
            if (kind === 'entry-point') return undefined;
            return kind === 'import-statement' && own.has(basename(path))
              ? undefined
              : { path, external: true };
          }),
      },
    ],
  });
}

/** Names of one file are not those of another. */
function nameIn(file, name) {
  return `${basename(file, '.js').replace(/\W/g, '_')}_${name}`;
}

/** Lets a file import from the groups what it imported from their members. */
async function redirect(path, taken) {
  const text = await readFile(path, 'utf8');
  const groupOf = (from) => {
    const member = `dist/chunks/${basename(from)}`;
    return taken.has(member)
      ? { member, target: from.replace(/[^/]*$/, `${taken.get(member)}.js`) }
      : undefined;
  };
  const renamed = text
    .replace(IMPORT, (whole, names, from) => {
      const group = groupOf(from);
      if (group === undefined) return whole;
      const list = names.split(',').map((one) => {
        const [name, as = name] = one.split(' as ');
        return `${nameIn(group.member, name)} as ${as}`;
      });
      return `import{${list.join(',')}}from"${group.target}";`;
    })
    .replace(BARE, (whole, from) => {
      const group = groupOf(from);
      return group === undefined ? whole : `import"${group.target}";`;
    });
  await writeFile(path, renamed);
}

/** For whoever imports the file when it is needed. */
function standIn(file, name, outputs) {
  const names = outputs[file].exports.map((one) => `${nameIn(file, one)} as ${one}`);
  return `export{${names.join(',')}}from"./${name}.js";\n`;
}
