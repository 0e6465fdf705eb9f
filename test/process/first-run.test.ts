import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { Home, reportedError } from '../support/cli.ts';
import { openCommand } from '../support/pty.ts';

describe('without any configuration', () => {
  const home = new Home();

  it('explains both solutions in four lines', async () => {
    const { code, stdout, stderr } = await home.run`envelopes list`;
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^Error: No profile is configured/),
      expect.stringMatching(/esign profiles add`$/),
      expect.stringMatching(/esign sandbox start`$/),
      expect.stringMatching(/ESIGN_BASE_URL and ESIGN_API_KEY/),
    ]);
  });

  it('reports the same as a JSON error', async () => {
    const error = reportedError(await home.run`api /esign/templates --json`);
    expect(error).toMatchObject({ code: 'NO_PROFILE', exitCode: 3 });
    expect(error.hint).toMatch(/profiles add[\s\S]*sandbox start/);
  });

  it('shows how to start when esign is run without arguments', async () => {
    const { code, stdout, stderr } = await home.run([]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/EVERY DAY\s+demo [\s\S]*sandbox, [\s\S]*esign profiles add\n/);
  });

  it('reports that profiles use has nothing to choose', async () => {
    expect(reportedError(await home.run`profiles use --json`)).toMatchObject({
      code: 'NO_PROFILE',
    });
  });
});

describe('choosing a profile', () => {
  const home = new Home();
  const folder = home.pathLater('config');
  const store = () => readFile(home.path('config', 'profiles.json'), 'utf8');

  beforeAll(async () => {
    const profile = (host: string) => ({ baseUrl: `https://${host}/api/v1`, apiKey: 'sk_canary_0123456789' });
    // Written manually: `profiles add` would refuse this name.
    const profiles = {
      acme: profile('acme.example'),
      'b\u001b[31mad': profile('bad.example'),
      zeta: profile('zeta.example'),
    };
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(home.path('config', 'profiles.json'), JSON.stringify({ current: 'acme', profiles }), {
      mode: 0o600,
    });
  });

  it('works with the arrow keys on a terminal', async () => {
    const screen = openCommand(home, ['profiles', 'use']);
    await screen.shows('Which profile?');
    await screen.shows('acme      https://acme.example/api/v1  (current)');
    await screen.shows('b␛[31mad');
    screen.type('\u001b[B\u001b[B\r');
    expect(await screen.ended).toEqual({ code: 0, signal: undefined });
    await screen.shows('zeta is now the current profile.');
    expect(await store()).toMatch(/"current":\s*"zeta"/);
    expect(screen.text()).not.toContain('sk_canary');
  });

  it('fails without a terminal, and lists the profiles', async () => {
    const found = await home.run`profiles use --json`;
    expect(found.code).toBe(2);
    expect(reportedError(found)).toMatchObject({
      code: 'USAGE',
      hint: expect.stringMatching(/acme, .*zeta/) as unknown,
    });
  });
});
