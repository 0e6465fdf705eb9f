import { afterEach, expect, it, vi } from 'vitest';
import { raiseSignal } from '../../src/output/typed-keys.ts';

const heard = vi.fn<(signal: NodeJS.Signals) => void>();
afterEach(() => {
  process.off('SIGINT', heard);
  heard.mockReset();
});

it('reports Ctrl-C on Windows, where a signal would end the process before it has stopped cleanly', () => {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
  process.on('SIGINT', heard);
  for (const signal of ['SIGINT', 'SIGTSTP', 'SIGQUIT'] as const) raiseSignal(signal, 'win32');
  expect(heard.mock.calls).toEqual([['SIGINT']]);
  expect(kill).not.toHaveBeenCalled();
});

it('sends the signal of the key on other systems', () => {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
  raiseSignal('SIGTSTP', 'linux');
  expect(kill.mock.calls).toEqual([[process.pid, 'SIGTSTP']]);
});
