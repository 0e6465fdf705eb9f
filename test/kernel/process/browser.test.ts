import { describe, expect, it } from 'vitest';
import { browserCommand } from '../../../src/commands/listen/keys.ts';

const URL = 'http://127.0.0.1:1/open/x';

describe('the command that opens a browser', () => {
  it.each([
    ['the value of BROWSER', { BROWSER: 'lynx' }, 'linux', ['lynx', URL]],
    ['on a Mac', {}, 'darwin', ['open', URL]],
    ['on Windows', {}, 'win32', ['cmd', '/c', 'start', '""', URL]],
    ['on X11', { DISPLAY: ':0' }, 'linux', ['xdg-open', URL]],
    ['on Wayland', { WAYLAND_DISPLAY: 'wayland-0' }, 'linux', ['xdg-open', URL]],
    ['without a screen', {}, 'linux', undefined],
  ] as const)('is detected: %s', (_, env, platform, command) => {
    expect(browserCommand(URL, env, platform)).toEqual(command);
  });
});
