import type { Terminal } from '../../output/terminal.ts';

/** How text is painted on stderr; plain where colour is off. */
export type Paint = Terminal['styleErr'];

/** The prompt library's look, dim where nothing asks for attention. `keys` is the line below a list. */
export function calmTheme(keys: string, paint: Paint) {
  const help = (text: string) => paint('dim', text);
  const answer = (text: string) => paint('cyan', text);
  return { style: { help, description: help, answer, keysHelpTip: () => help(keys) } };
}
