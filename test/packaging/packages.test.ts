import { describe, expect, it } from 'vitest';
import { isInstalled, programOf } from '../../scripts/packages.js';

const windows = { platform: 'win32', execPath: 'C:\\Program Files\\nodejs\\node.exe', env: {} };

describe('a command of the scripts', () => {
  it('is started directly, even from a path with blanks', () => {
    const words = ['C:\\my work\\scripts\\build.js'];
    expect(programOf(windows.execPath, words, windows)).toEqual([windows.execPath, words]);
    expect(programOf('npm', ['ci'], { ...windows, platform: 'linux' })).toEqual(['npm', ['ci']]);
  });

  it('starts npm through Node, with the running npm or its own, since Windows needs a shell for npm', () => {
    const env = { npm_execpath: 'D:\\npm\\bin\\npm-cli.js' };
    expect(programOf('npm', ['a b'], { ...windows, env })).toEqual([
      windows.execPath,
      [env.npm_execpath, 'a b'],
    ]);
    const [, [script]] = programOf('npm', [], { ...windows, execPath: '/nodejs/node.exe' });
    expect(script).toMatch(/nodejs.node_modules.npm.bin.npm-cli\.js$/);
  });
});

describe('an npm installation', () => {
  const lock = {
    packages: {
      '': {},
      'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
      'node_modules/a-win32': { version: '1.0.0', integrity: 'sha512-w', optional: true },
    },
  };
  const { 'node_modules/a': a } = lock.packages;

  it.each([
    [
      'everything in the lock file except packages for other systems',
      { packages: { 'node_modules/a': a } },
      true,
    ],
    ['nothing', {}, false],
    ['less', { packages: {} }, false],
    ['another version', { packages: { 'node_modules/a': { ...a, version: '1.0.1' } } }, false],
    ['other bytes', { packages: { 'node_modules/a': { ...a, integrity: 'sha512-b' } } }, false],
  ])('contains %s', (_, installed, enough) => {
    expect(isInstalled(lock, installed)).toBe(enough);
  });
});
