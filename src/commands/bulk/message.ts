import { readText } from '../../cli/input/files.ts';

/** The message that applies to rows without one, from a flag or a file. */
export async function messageOf(flags: {
  message?: string | undefined;
  'message-file'?: string | undefined;
}): Promise<string | undefined> {
  const file = flags['message-file'];
  return file === undefined ? flags.message : readText(file, 'message file');
}
