import { isBuiltin } from 'node:module';

/** Returns true in the standalone executable, which includes Node. Other runtimes, such as Bun, have no `node:sea`. */
export function isExecutable(): boolean {
  return isBuiltin('node:sea') && process.getBuiltinModule('node:sea').isSea();
}
