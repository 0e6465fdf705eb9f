import fc from 'fast-check';

const codePoint = fc.oneof(fc.nat(0x1f), fc.nat(0x20_ff), fc.nat(0x10_ff_ff));

/** Any text, with many control and direction characters and lone surrogates. fast-check's unit `binary` takes seconds to prepare. */
export const anyText = fc.string({ unit: codePoint.map((code) => String.fromCodePoint(code)) });
