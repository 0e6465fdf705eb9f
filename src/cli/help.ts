export { Help as default } from '@oclif/core/help';
