import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { isRecord, parseJson } from '../../src/kernel/json.ts';

const releaseSchema = z.object({
  jobs: z.record(
    z.string(),
    z.object({
      permissions: z.record(z.string(), z.string()).optional(),
      steps: z.array(
        z.object({
          name: z.string().optional(),
          if: z.string().optional(),
          uses: z.string().optional(),
          run: z.string().optional(),
        }),
      ),
    }),
  ),
});
const root = join(import.meta.dirname, '../..');
const read = (name: string) => readFile(join(root, name), 'utf8');

const manifest = parseJson(await read('package.json'));
const scripts = isRecord(manifest) && isRecord(manifest.scripts) ? Object.keys(manifest.scripts) : [];
const workflows = (await readdir(join(root, '.github/workflows'))).map((name) => `.github/workflows/${name}`);
const pages = ['.github/CONTRIBUTING.md', 'docs/releasing.md'];

describe('the references in workflows and packaging pages', () => {
  it.each([...workflows, ...pages])('exist: %s', async (name) => {
    const text = await read(name);
    const run = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, script]) => script);
    const files = [...text.matchAll(/\b(?:scripts|test|src)\/[\w./-]+\.(?:js|mjs|json|rb|ts)\b/g)].map(
      ([file]) => file,
    );
    expect(run.filter((script) => script !== undefined && !scripts.includes(script))).toEqual([]);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    expect(run.length + files.length).toBeGreaterThan(0);
  });

  it.each(workflows)('are well-formed and contact no fixed host: %s', async (name) => {
    const text = await read(name);
    const workflow: unknown = parse(text);
    expect(workflow).toHaveProperty('jobs');
    // Permissions are granted where they are needed, not by default.
    expect(workflow).toHaveProperty('permissions', { contents: 'read' });
    expect(text).not.toMatch(/https?:\/\//);
  });

  it.each(workflows)('run only pinned versions: %s', async (name) => {
    const text = await read(name);
    const used = [...text.matchAll(/uses: (.+)/g)].map(([, action]) => action);
    expect(used.length).toBeGreaterThan(0);
    for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    expect(text).not.toMatch(/\bnpx\b|npm (install|i|exec)\b/);
  });

  it.each(workflows)('continue with the other systems when one fails: %s', async (name) => {
    const workflow: unknown = parse(await read(name));
    const jobs = isRecord(workflow) && isRecord(workflow.jobs) ? Object.values(workflow.jobs) : [];
    for (const job of jobs)
      if (isRecord(job) && job.strategy !== undefined)
        expect(job.strategy).toHaveProperty('fail-fast', false);
  });

  it.each(['dependabot.yml', 'ISSUE_TEMPLATE/bug.yml', 'ISSUE_TEMPLATE/wish.yml'])(
    'are well-formed: %s',
    async (name) => {
      const value: unknown = parse(await read(join('.github', name)));
      expect(isRecord(value)).toBe(true);
    },
  );
});

describe('the supply chain', () => {
  it('runs no repository code with write permissions, and signs only with a certificate', async () => {
    const { jobs } = releaseSchema.parse(parse(await read('.github/workflows/release.yml')));
    const withRights = Object.values(jobs).filter(({ permissions }) => permissions?.['id-token'] === 'write');
    expect(withRights).toHaveLength(1);
    for (const { uses = '', run = '' } of withRights.flatMap(({ steps }) => steps))
      expect(`${uses} ${run}`).not.toMatch(/checkout|\bnode |scripts\//);
    const signing = Object.values(jobs).flatMap(({ steps }) =>
      steps.filter(({ name }) => name?.startsWith('Sign')),
    );
    expect(signing).toHaveLength(2);
    for (const step of signing) expect(step.if).toMatch(/env\.SIGNS_\w+ == 'true'/);
  });

  it('downloads no tool without a lock file', async () => {
    const texts = (await readdir(join(root, 'scripts'), { recursive: true, withFileTypes: true }))
      .filter(
        (entry) => entry.isFile() && /\.m?js$/.test(entry.name) && !entry.parentPath.includes('node_modules'),
      )
      .map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8'));
    const all = [await read('package.json'), ...(await Promise.all(texts))];
    expect(all.filter((text) => /'npx'|npx --yes|--yes', /.test(text))).toEqual([]);
  });

  it('pins exact versions, in a lock file with the checksum of each', async () => {
    for (const folder of ['.', 'scripts/tools', 'test/contract']) {
      const facts = parseJson(await read(join(folder, 'package.json')));
      const given = isRecord(facts)
        ? [facts.dependencies, facts.devDependencies, facts.optionalDependencies]
        : [];
      const versions = given.flatMap((names) => (isRecord(names) ? Object.values(names) : []));
      expect(versions.length).toBeGreaterThan(0);
      for (const version of versions) expect(version).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
      const lock = parseJson(await read(join(folder, 'package-lock.json')));
      const packages = isRecord(lock) && isRecord(lock.packages) ? Object.entries(lock.packages) : [];
      const unsure = packages.filter(
        ([path, one]) => path !== '' && !(isRecord(one) && typeof one.integrity === 'string'),
      );
      expect(unsure.map(([path]) => path)).toEqual([]);
    }
  });

  it('releases with the exact Node version that executables contain', async () => {
    const workflow: unknown = parse(await read('.github/workflows/release.yml'));
    const node = /const NODE = '(\d+\.\d+\.\d+)'/.exec(await read('scripts/sea.js'))?.[1];
    expect(node).toBeDefined();
    expect(workflow).toHaveProperty('env', { NODE: node });
    const versions = [...(await read('.github/workflows/release.yml')).matchAll(/node-version: (.+)/g)];
    for (const [, version] of versions) expect(version).toContain('env.NODE');
  });

  it('is scanned each night for known vulnerabilities', async () => {
    const text = await read('.github/workflows/faults.yml');
    expect(text).toContain('schedule:');
    for (const check of ['npm audit signatures', 'npm audit --audit-level=moderate'])
      expect(text).toContain(check);
  });

  it('has the same line endings on every system', async () => {
    expect(await read('.gitattributes')).toMatch(/^\* text=auto eol=lf$/m);
  });
});

describe('the package', () => {
  it('has its native modules as optional dependencies and everything else in the bundle', () => {
    expect(manifest).not.toHaveProperty('dependencies');
  });
});
