import { join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { constants, Script } from 'node:vm';
import type { Assets, Files } from './files.ts';

interface Module {
  exports: unknown;
}
type Factory = (module: Module, exports: unknown, require: (name: string) => unknown, url: string) => void;

/**
 * The bundle's files as they run inside the executable: each is loaded when it is first asked for, with the code that V8
 * compiled when the executable was built.
 */
export class Program {
  /** What has been compiled, for the build to take V8's code of. */
  readonly scripts = new Map<string, Script>();
  private readonly modules = new Map<string, Module>();
  private readonly assets: Assets;
  private readonly files: Files;
  private readonly needsFiles: ReadonlySet<string>;

  constructor(assets: Assets, files: Files, needsFiles: readonly string[]) {
    this.assets = assets;
    this.files = files;
    this.needsFiles = new Set(needsFiles);
  }

  has(path: string): boolean {
    return this.assets.has(`code/${path}`);
  }

  /** Runs the file once and returns what it exports. */
  load(path: string): unknown {
    const known = this.modules.get(path);
    if (known) return known.exports;
    if (this.needsFiles.has(path)) this.files.unpack();
    const module: Module = { exports: {} };
    this.modules.set(path, module);
    const file = join(this.files.root, path);
    const require = (name: string) => this.require(path, name);
    this.factory(path, file)(module, module.exports, require, pathToFileURL(file).href);
    return module.exports;
  }

  private factory(path: string, filename: string): Factory {
    const cached = `cache/${path}`;
    const script = new Script(this.assets.text(`code/${path}`), {
      filename,
      ...(this.assets.has(cached) ? { cachedData: this.assets.bytes(cached) } : {}),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    this.scripts.set(path, script);
    const factory: unknown = script.runInThisContext();
    if (!isFactory(factory)) throw new Error(`${path} is no part of the program`);
    return factory;
  }

  /** Other files of the bundle by their relative name or URL; the rest is Node's own. No folder is searched. */
  private require(from: string, name: string): unknown {
    if (name.startsWith('.')) return this.load(posix.join(posix.dirname(from), name));
    const inside = `${pathToFileURL(this.files.root).href}/`;
    if (name.startsWith(inside)) return this.load(name.slice(inside.length));
    const own: unknown = process.getBuiltinModule(name);
    if (own === undefined) throw new NotCarriedError(name);
    return own;
  }
}

/** What `import` says of a package that is not installed. */
class NotCarriedError extends Error {
  readonly code = 'ERR_MODULE_NOT_FOUND';
  constructor(name: string) {
    super(`${name} is no part of the executable`);
  }
}

function isFactory(value: unknown): value is Factory {
  return typeof value === 'function';
}
