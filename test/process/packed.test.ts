/* @module-tag full */

import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseJson } from '../../src/kernel/json.ts';
import { Home, PACKAGE } from '../support/cli.ts';

/*
 * What the package contains, and how other programs load it: bundled, with `require`, in a runner that supports only CommonJS, and
 * from TypeScript.
 */

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const LIST = `
  const esign = createClient({ baseUrl: process.env.ESIGN_BASE_URL, apiKey: process.env.ESIGN_API_KEY });
  (async () => { for await (const { id } of esign.templates.list()) { console.log(id); break; } })();`;
const BY_IMPORT = `import { createClient } from 'esign-cli/client';${LIST}`;
const BY_REQUIRE = `const { createClient } = require('esign-cli/client');${LIST}`;

/**
 * Prints what the program `given` returns, loaded as Jest does it: CommonJS in a separate context, where neither `import()`
 * nor `process.getBuiltinModule` reach Node's loader.
 */
const LIKE_JEST = (given: string) => `
  const vm = require('node:vm');
  const fs = require('node:fs');
  const path = require('node:path');
  const real = require('node:module');
  const context = vm.createContext({});
  const own = new Set(vm.runInContext('Object.getOwnPropertyNames(globalThis)', context));
  for (const name of Object.getOwnPropertyNames(globalThis)) if (!own.has(name)) context[name] = globalThis[name];
  context.process = { ...process, getBuiltinModule: () => { throw new Error('not here'); } };
  const load = (file) => {
    if (real.isBuiltin(file)) return real.createRequire(__filename)(file);
    const found = real.createRequire(__filename).resolve(file);
    if (!found.endsWith('.cjs')) throw new Error('Must use import to load ES Module: ' + found);
    const module = { exports: {} };
    const wrapped = '(function (module, exports, require, __filename, __dirname) {' + fs.readFileSync(found, 'utf8') + '\\n})';
    new vm.Script(wrapped, { filename: found }).runInContext(context)(module, module.exports, load, found, path.dirname(found));
    return module.exports;
  };
  (async (require) => { ${given} })(load).then((value) => console.log(JSON.stringify(value)));`;

// The whole suite on the package is `npm run test:packed`; this test quickly detects a file that is left out.
describe.skipIf(process.env.ESIGN_BIN)('the package', () => {
  it('contains everything that a command needs, and nothing else', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'esign-packed-'));
    try {
      const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], {
        cwd: ROOT,
      });
      await run('tar', ['-xzf', join(folder, stdout.trim()), '-C', folder]);
      const env = { PATH: process.env.PATH, HOME: folder };
      const esign = (...words: string[]) =>
        run(process.execPath, [join(folder, 'package/bin/run.js'), ...words], { env });
      const listed = await esign('profiles', 'list', '--json');
      expect(JSON.parse(listed.stdout)).toEqual([]);
      expect((await esign('envelopes', 'get', '--help')).stdout).toContain('USAGE');
      const [sandbox, client] = [
        join(folder, 'package/dist/program/sandbox.cjs'),
        join(folder, 'package/dist/client/client.cjs'),
      ];
      const load = `console.log(typeof require(${JSON.stringify(sandbox)}).startSandbox, typeof require(${JSON.stringify(client)}).createClient)`;
      expect((await run(process.execPath, ['--eval', load], { env })).stdout).toBe('function function\n');
      const demo = await esign('demo', '--json', '--dir', join(folder, 'downloads'));
      expect(JSON.parse(demo.stdout)).toHaveProperty('files');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

// A standalone executable has no package.
describe.skipIf(PACKAGE === undefined || process.platform === 'win32')(
  'the package in other programs',
  () => {
    const home = new Home();
    const project = (...parts: string[]) => home.path('project', ...parts);
    let env: Record<string, string>;
    beforeAll(async () => {
      const { baseUrl, apiKey } = await home.sandbox();
      env = { PATH: process.env.PATH ?? '', ESIGN_BASE_URL: baseUrl, ESIGN_API_KEY: apiKey };
      const modules = project('node_modules');
      await mkdir(join(modules, 'esign-cli'), { recursive: true });
      for (const part of ['package.json', 'dist', 'contract'])
        await cp(join(PACKAGE ?? '', part), join(modules, 'esign-cli', part), { recursive: true });
      for (const name of ['vitest', '@types'])
        await symlink(join(ROOT, 'node_modules', name), join(modules, name));
    });

    /** Writes a program and returns what it prints. */
    const printed = async (file: string, source: string) => {
      await writeFile(project(file), source);
      return (await run(process.execPath, [project(file)], { env, cwd: home.folder })).stdout;
    };

    for (const { what, file, source, format } of [
      { what: 'an ES module as CommonJS', file: 'a.mjs', source: BY_IMPORT, format: 'cjs' },
      { what: 'CommonJS as CommonJS', file: 'b.cjs', source: BY_REQUIRE, format: 'cjs' },
      { what: 'an ES module as an ES module', file: 'c.mjs', source: BY_IMPORT, format: 'esm' },
    ] as const)
      it(`bundles the client: ${what}`, async () => {
        await writeFile(project(file), source);
        const outfile = home.path(`bundled-${file}.${format === 'cjs' ? 'cjs' : 'mjs'}`);
        const { warnings } = await build({
          entryPoints: [project(file)],
          bundle: true,
          platform: 'node',
          format,
          outfile,
          logLevel: 'silent',
        });
        expect(warnings).toEqual([]);
        expect((await run(process.execPath, [outfile], { env })).stdout).toBe('tmpl_nda\n');
      });

    it('recognizes an error by its class from any entry point, and names it in stack traces', async () => {
      const seen = await printed(
        'errors.mjs',
        `import { createRequire } from 'node:module';
       import * as client from 'esign-cli/client';
       import * as sandbox from 'esign-cli/sandbox';
       const required = createRequire(import.meta.url)('esign-cli/client');
       const errorOf = (options) => { try { client.createClient(options); } catch (error) { return error; } };
       const mistake = errorOf({});
       const refused = await sandbox.startSandbox({ quota: -1 }).catch((error) => error);
       const classes = [client.UsageError, required.UsageError, sandbox.UsageError, required.EsignError, client.ServiceError];
       const kinds = (error) => classes.map((one) => error instanceof one);
       console.log(JSON.stringify([kinds(mistake), kinds(refused), kinds(new Error('x')), kinds(null), [mistake, refused].map((one) => one.constructor.name)]));`,
      );
      const yes = [true, true, true, true, false];
      const no = Array(5).fill(false);
      expect(parseJson(seen)).toEqual([yes, yes, no, no, ['UsageError', 'UsageError']]);
    });

    it('loads where only CommonJS is supported, as in Jest', async () => {
      const seen = await printed(
        'jest.cjs',
        LIKE_JEST(
          `const { startSandbox, SandboxError } = require('esign-cli/sandbox');
         const { createClient, ServiceError } = require('esign-cli/client');
         const sandbox = await startSandbox();
         const esign = createClient({ baseUrl: sandbox.baseUrl, apiKey: sandbox.apiKey });
         const signers = [{ name: 'Ada', email: 'ada@example.com' }];
         const { envelope } = await esign.envelopes.create({ templateId: 'tmpl_nda', signers, send: true });
         const { status } = await sandbox.sign(envelope.id);
         const missing = await esign.envelopes.get('env_0').catch((error) => error);
         await sandbox.close();
         return [status, missing instanceof ServiceError];`,
        ),
      );
      expect(parseJson(seen)).toEqual(['COMPLETED', true]);
    });

    for (const { name, extension, options } of [
      { name: 'nodenext', extension: 'mts', options: {} },
      { name: 'node16, from CommonJS', extension: 'cts', options: { module: 'node16' } },
      {
        name: 'CommonJS without package exports',
        extension: 'cts',
        // TypeScript 7 drops it, but programs use it with earlier versions.
        options: {
          module: 'commonjs',
          moduleResolution: 'node10',
          esModuleInterop: true,
          ignoreDeprecations: '6.0',
        },
      },
      { name: 'a bundler', extension: 'ts', options: { module: 'esnext', moduleResolution: 'bundler' } },
    ])
      it(`has types for strict TypeScript: ${name}`, async () => {
        const folder = project(`typed-${name.replaceAll(/\W/g, '')}`);
        await mkdir(folder);
        const compilerOptions = {
          strict: true,
          noEmit: true,
          target: 'es2022',
          module: 'nodenext',
          types: ['node'],
          ...{
            exactOptionalPropertyTypes: true,
            noUncheckedIndexedAccess: true,
            skipLibCheck: true,
            ...options,
          },
        };
        await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*'] }));
        await writeFile(join(folder, 'package.json'), '{"type":"module"}');
        const examples = (await exampleSources()).filter(
          (source) => extension !== 'cts' || !source.includes("'vitest'"),
        );
        expect(examples.length).toBeGreaterThan(6);
        // CommonJS has no `await` outside functions.
        const isCommonJs = extension === 'cts';
        for (const [nth, source] of examples.entries())
          await writeFile(
            join(folder, `example-${nth}.${extension}`),
            isCommonJs ? inFunction(source) : `${source}\nexport {};`,
          );
        const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
        const done = await run(process.execPath, [compiler, '-p', folder]).catch(
          (error: { stdout: string }) => error,
        );
        expect(done.stdout, name).toBe('');
      });
  },
);

/** The examples of the pages for programs, except those for Jest, whose globals need separate types. */
async function exampleSources(): Promise<string[]> {
  const pages = await Promise.all(
    ['client.md', 'testing.md'].map((page) => readFile(join(ROOT, 'docs', page), 'utf8')),
  );
  const sources = pages.flatMap((page) =>
    [...page.matchAll(/^```[jt]s\n(.*?)^```$/gms)].map(([, source = '']) => source),
  );
  return sources.filter((source) => !source.includes('require('));
}

function inFunction(source: string): string {
  const imports = source.split('\n').filter((line) => line.startsWith('import '));
  const rest = source.split('\n').filter((line) => !line.startsWith('import '));
  return `${imports.join('\n')}\nexport async function example() {\n${rest.join('\n')}\n}`;
}
