import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

/** Returns true for text of several words in which only names are inserted. */
function isText(path) {
  if (path.isStringLiteral()) return isSentence(path.node.value);
  return (
    path.isTemplateLiteral() &&
    path.node.quasis.some(({ value }) => isSentence(value.cooked ?? '')) &&
    path.node.expressions.every(({ type }) => type === 'Identifier' || type === 'MemberExpression')
  );
}

function isSentence(text) {
  return /\S\s+\S/.test(text);
}

// Assertions don't contain sentences: contract/messages and test/output/golden have them.
export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, 'texts', {
    shouldIgnore: (path) => (isText(path) ? 'the catalogs of messages contain it' : undefined),
  }),
];
