import { styleText } from 'node:util';
import { wantsColour } from '../output/terminal.ts';

/** The prompt library's look, dim where nothing asks for attention. `keys` is the line below a list. */
export function calmTheme(keys: string) {
  const isColoured = wantsColour(process.stderr.isTTY, process.env);
  const paint = (format: Parameters<typeof styleText>[0]) => (text: string) =>
    isColoured ? styleText(format, text, { validateStream: false }) : text;
  const help = paint('dim');
  return { style: { help, description: help, answer: paint('cyan'), keysHelpTip: () => help(keys) } };
}
