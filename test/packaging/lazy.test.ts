import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { lateBuiltins } from '../../scripts/lazy.js';

const BIN = join(import.meta.dirname, '../../bin/run.js');
const run = promisify(execFile);

describe("imports of Node's own modules in the bundle", () => {
  it.each([
    [
      'import{readFileSync as a,join}from"node:fs";',
      'const {readFileSync:a,join:join}=process.getBuiltinModule("node:fs");',
    ],
    ["import path from 'path';", 'const path=process.getBuiltinModule("node:path");'],
    ['import*as u from"node:util";', 'const u=process.getBuiltinModule("node:util");'],
    [
      'import{randomUUID as r}from"node:crypto";',
      'const r=(...words)=>process.getBuiltinModule("node:crypto").randomUUID(...words);',
    ],
    // Neither an object nor a class can stand behind a function.
    ['import{subtle as s}from"node:crypto";', 'const {subtle:s}=process.getBuiltinModule("node:crypto");'],
    [
      'import{KeyObject}from"crypto";',
      'const {KeyObject:KeyObject}=process.getBuiltinModule("node:crypto");',
    ],
    ['import{a as b}from"./core.js";', 'import{a as b}from"./core.js";'],
    ['import{z}from"zod";', 'import{z}from"zod";'],
  ])('%s', (text, expected) => {
    expect(lateBuiltins(text)).toBe(expected);
  });
});

it('says which Node it needs on one that is too old', async () => {
  const old = 'data:text/javascript,process.getBuiltinModule=undefined';
  await expect(run(process.execPath, ['--import', old, BIN, '--version'])).rejects.toMatchObject({
    code: 1,
    stderr: `esign needs Node 20.19, 22.3 or newer; this is ${process.version}.\n`,
  });
});
