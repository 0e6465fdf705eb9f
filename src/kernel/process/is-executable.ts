import { isBuiltin } from 'node:module';

/** True in the executable, which carries Node. Other runtimes, such as Bun, have no `node:sea`. */
export function isExecutable(): boolean {
  return isBuiltin('node:sea') && process.getBuiltinModule('node:sea').isSea();
}
