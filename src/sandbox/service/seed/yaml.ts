// A file of its own: the parser is loaded when a seed is read, and then by names.
export { LineCounter, parseDocument } from 'yaml';
