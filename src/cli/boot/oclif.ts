/** oclif's runner, which prints the help. It is loaded as one module because the bundle hides the exports of a CommonJS module. */
export { Config } from '@oclif/core/config';
export { run } from '@oclif/core/run';
