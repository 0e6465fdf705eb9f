import { stat } from 'node:fs/promises';
import { EsignError, UsageError } from '../../kernel/errors.ts';
import { diskReason } from '../../kernel/files/disk-reason.ts';
import { chunksOf, openInput, readInput } from '../../kernel/files/user-file.ts';
import { tryParseJson } from '../../kernel/json.ts';
import { shellWord } from '../../kernel/text/shell-words.ts';
import { toUtf8 } from '../../kernel/text/utf8.ts';
import { isInterrupted } from '../interrupt.ts';

/**
 * Reads a text file that the user named, without a byte order mark. `-` is stdin.
 * @throws UsageError also if it is neither UTF-8 nor UTF-16, because its letters would be read as different ones.
 */
export async function readText(path: string, what: string): Promise<string> {
  const bytes = await readBytes(path, what);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(toUtf8(bytes));
  } catch (error) {
    throw new UsageError(`The ${what} ${path === '-' ? 'on stdin' : path} is not UTF-8 text.`, {
      cause: error,
      hint: 'Save it in UTF-8. Nothing was sent.',
    });
  }
}

/** Returns the message from --message or --message-file. */
export async function readMessage(flags: {
  message?: string | undefined;
  'message-file'?: string | undefined;
}): Promise<string | undefined> {
  const file = flags['message-file'];
  return file === undefined ? flags.message : readText(file, 'message file');
}

/** Reads the exact bytes of a file that the user named. `-` is stdin. @throws UsageError for more than 64 MiB. */
async function readBytes(path: string, what: string): Promise<Buffer> {
  try {
    return await readInput(openInput(path, what), `The ${what} ${path}`);
  } catch (error) {
    if (error instanceof UsageError || isInterrupted(error)) throw error;
    throw new UsageError(`Can't read the ${what} ${path} (${diskReason(error)}).`, {
      cause: error,
      hint: 'Check the path and its permissions.',
    });
  }
}

/**
 * Yields the bytes of a file that the user named, as they are read. `-` is stdin.
 * @throws UsageError also if the file changes in the meantime, because some rows could be old and others new.
 */
export async function* streamFile(
  path: string,
  what: string,
  name = path,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    const before = path === '-' ? undefined : await stat(path);
    yield* chunksOf(openInput(path, what));
    if (before?.isFile()) {
      const after = await stat(path);
      if (before.size !== after.size || before.mtimeMs !== after.mtimeMs)
        throw new UsageError(`${name} changed while it was being read.`, {
          hint: 'Run the command again when the file is complete. Nothing was sent.',
        });
    }
  } catch (error) {
    if (error instanceof EsignError || isInterrupted(error)) throw error;
    throw new UsageError(`Can't read ${name} (${diskReason(error)}).`, {
      cause: error,
      hint: 'Check the path and its permissions. To read from stdin, use `-`.',
    });
  }
}

/** Reads the text of a file or stdin and checks that it is JSON. */
export async function readJsonText(path: string, what: string): Promise<string> {
  const content = await readText(path, what);
  if (tryParseJson(content) !== undefined) return content.trim();
  throw new UsageError(`The ${what} ${path === '-' ? 'on stdin' : path} is not JSON. Nothing was sent.`, {
    hint: path === '-' ? 'Check it with `jq .`.' : `Check it with \`jq . ${shellWord(path)}\`.`,
  });
}
