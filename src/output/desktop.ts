import type { Terminal } from './terminal.ts';
import { safeLine } from './text.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** How to notify a user who isn't looking at the terminal: with an escape sequence or a command. */
export type Desktop =
  | { kind: 'escape'; text: string }
  | { kind: 'command'; file: string; args: string[] }
  | { kind: 'none' };

const TITLE = 'esign';
const OSC_9 = /^(iTerm\.app|WezTerm|ghostty)$/;
const OSC_777 = /^(foot|rxvt)/;
const SHOW_ON_MAC = [
  'on run argv',
  'display notification (item 1 of argv) with title (item 2 of argv)',
  'end run',
];

/** Returns how to show a desktop notification in this environment. */
export function desktopFor(text: string, env: Environment, platform: NodeJS.Platform): Desktop {
  const body = safeLine(text);
  // A terminal multiplexer would discard the sequence.
  const isDirect = !env.TMUX && !env.STY;
  if (isDirect && (OSC_9.test(env.TERM_PROGRAM ?? '') || env.KITTY_WINDOW_ID))
    return { kind: 'escape', text: `\u001b]9;${TITLE}: ${body}\u0007` };
  if (isDirect && OSC_777.test(env.TERM ?? ''))
    return { kind: 'escape', text: `\u001b]777;notify;${TITLE};${body.replaceAll(';', ',')}\u0007` };
  if (platform === 'darwin') {
    const script = SHOW_ON_MAC.flatMap((line) => ['-e', line]);
    return { kind: 'command', file: 'osascript', args: [...script, body, TITLE] };
  }
  if (platform === 'linux' && (env.DISPLAY || env.WAYLAND_DISPLAY)) {
    const plain = body.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    return { kind: 'command', file: 'notify-send', args: ['--app-name', TITLE, '--', TITLE, plain] };
  }
  return { kind: 'none' };
}

/** Rings the bell of the terminal, if there is one. */
export function ring(terminal: Terminal, more = ''): void {
  if (terminal.errIsTty) terminal.err(`\u0007${more}`);
}
