import { readText } from './files.ts';

/** Returns the message from --message or --message-file. */
export async function readMessage(flags: {
  message?: string | undefined;
  'message-file'?: string | undefined;
}): Promise<string | undefined> {
  const file = flags['message-file'];
  return file === undefined ? flags.message : readText(file, 'message file');
}
