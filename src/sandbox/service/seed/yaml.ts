// A separate file, so that the parser is loaded only when a seed is read.
export { parse } from 'yaml';
