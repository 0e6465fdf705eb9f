/** oclif's own runner, for help; loaded as one module, since the bundle hides names of a CommonJS one. */
export { Config } from '@oclif/core/config';
export { run } from '@oclif/core/run';
