import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND, Home } from '../support/cli.ts';
import { json, startServer, type TestServer } from '../support/server.ts';

/* Known problems of oclif's own runner (docs/contributing/decisions/0001): each of these tests fails there. */
const home = new Home();
const TOTAL = 60_000;
let server: TestServer;
let env: Record<string, string>;

beforeAll(async () => {
  server = await startServer((request, response) => {
    const page = Number(request.query.get('page'));
    const pageSize = Number(request.query.get('pageSize'));
    const data = Array.from(
      { length: Math.max(0, Math.min(pageSize, TOTAL - (page - 1) * pageSize)) },
      (_, i) => ({
        id: `env_${(page - 1) * pageSize + i}`,
        status: 'SENT',
        subject: 'x'.repeat(40),
        signers: [],
      }),
    );
    json(response, 200, {
      data,
      meta: { pagination: { page, pageSize, total: TOTAL, totalPages: Math.ceil(TOTAL / pageSize) } },
    });
  });
  env = {
    ESIGN_BASE_URL: `${server.origin}/api/v1`,
    ESIGN_API_KEY: 'sk_test_0123456789',
  };
});
afterAll(async () => {
  await server.close();
  await home.close();
});

const shell = (script: string) => home.shell(script, env);

describe('the runner', () => {
  it('delivers 20,000 lines to a slow reader, and the exit code', async () => {
    const { stdout, code } = await shell('esign envelopes list -L 20000 -q | (sleep 1; wc -l)');
    expect([stdout.trim(), code]).toEqual(['20000', 0]);
  });

  it('delivers megabytes of JSON to a reader that pauses', { tags: ['full'] }, async () => {
    const { stdout, code } =
      await shell(`esign envelopes list -L 20000 --json | (sleep 2; "${process.execPath}" -e '
      let s = ""; process.stdin.on("data", (d) => (s += d)).on("end", () => console.log(JSON.parse(s).length, s.length > 1e6))')`);
    expect([stdout.trim(), code]).toEqual(['20000 true', 0]);
  });

  it('stops immediately and silently when the pipe closes', async () => {
    const before = server.seen.length;
    const { stdout, stderr } = await shell('esign envelopes list --all -q | head -1');
    expect(stdout).toBe('env_0\n');
    expect(stderr).toBe('');
    expect(server.seen.length - before).toBeLessThan(300);
  });

  it('adds no byte to binary output', async () => {
    const { stdout } = await shell('esign --version | tail -c 1 | od -An -c');
    expect(stdout.trim()).toBe('\\n');
  });

  it('prints nothing on stdout when an argument is missing under --json', async () => {
    const { stdout, stderr, code } = await shell('esign templates get --json');
    expect([stdout, code]).toEqual(['', 2]);
    expect(stderr.length).toBeLessThan(500);
  });

  it('keeps the exit code under --json', async () => {
    const { code } = await shell('esign envelopes get env_1 --json --base-url http://127.0.0.1:9/x');
    expect(code).toBe(8);
  });

  it('also prints notices on stderr under --json', async () => {
    const create = 'esign envelopes create --template tmpl_nda --signer ada@example.com';
    const { stderr } = await shell(`${create} --dry-run --json >/dev/null`);
    expect(stderr).toContain('name');
  });

  it('shows help and version even with invalid settings', async () => {
    await writeFile(home.path('profiles.json'), '{broken');
    const broken = `ESIGN_CONFIG_DIR=${home.folder} ESIGN_BASE_URL= ESIGN_API_KEY=`;
    const [help, version, list] = await Promise.all([
      shell(`${broken} esign envelopes create --help`),
      shell(`${broken} esign --version`),
      shell(`${broken} esign envelopes list`),
    ]);
    expect([help.code, version.code, list.code]).toEqual([0, 0, 2]);
    expect(help.stdout).toContain('EXAMPLES');
    expect(list.stderr).toContain(home.path('profiles.json'));
  });

  it('stops a shell script when it is interrupted', async () => {
    const child = spawn(
      'bash',
      ['--norc', '-c', `${COMMAND.join(' ')} listen --no-verify --port 0 --json; echo "continued"`],
      { env: { ...home.env, ...env }, detached: true },
    );
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += String(chunk);
      // Like a terminal: the whole foreground group gets the signal.
      if (stdout.includes('ready') && child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
    });
    const signal = await new Promise((resolve) => child.on('close', (_, by) => resolve(by)));
    expect(signal).toBe('SIGINT');
    expect(stdout).not.toContain('continued');
    expect(stdout).toContain('"type":"summary"');
  });

  it('uses color only where it is allowed', async () => {
    const [plain, forced, none] = await Promise.all([
      shell('esign envelopes get 2>&1'),
      shell('FORCE_COLOR=1 esign envelopes get 2>&1'),
      shell('FORCE_COLOR=1 NO_COLOR=1 esign envelopes get 2>&1'),
    ]);
    expect(plain.stdout).not.toContain('\u001b');
    expect(forced.stdout).toContain('\u001b[31mError');
    expect(none.stdout).not.toContain('\u001b');
  });
});
