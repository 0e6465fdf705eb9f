import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

// Writes src/compatibility/document.json, which contains the responses in contract/openapi.yaml in a form that can be compared with
// real ones. Parsing the YAML itself would take longer than most commands. test/compatibility/api-document.test.ts compares the two.
const root = join(import.meta.dirname, '..');

const defined = (value) => JSON.parse(JSON.stringify(value));

/** @param {string} yaml */
export function documentOf(yaml) {
  const { paths, components, webhooks } = parse(yaml);
  const { schemas, parameters } = components;
  const objects = {};
  const resolve = (schema) => {
    if (schema.$ref === undefined) return schema;
    const name = schema.$ref.split('/').at(-1);
    return { ...schemas[name], name };
  };
  const addObject = (name, schema) => {
    if (objects[name] !== undefined) return name;
    const required = schema.required ?? [];
    objects[name] = {};
    for (const [key, value] of Object.entries(schema.properties))
      objects[name][key] = {
        ...shapeOf(resolve(value), `${name}.${key}`),
        ...(required.includes(key) ? { isRequired: true } : {}),
      };
    return name;
  };
  const shapeOf = (schema, place) => {
    if (schema.not !== undefined) return { type: 'never' };
    const types = [schema.type].flat();
    const isOpen = schema['x-not-shown'] === 'enum';
    const isTimestamp = schema.format === 'date-time';
    return defined({
      type: types.find((one) => one !== 'null'),
      isNullable: types.includes('null') || undefined,
      isTimestamp: isTimestamp || undefined,
      pattern: isTimestamp ? undefined : schema.pattern,
      words: isOpen ? schema.examples : schema.enum,
      isOpen: isOpen || undefined,
      of: partsOf(schema, place),
    });
  };
  const partsOf = (schema, place) => {
    if (schema.type === 'array') return itemsOf(resolve(schema.items), place);
    return schema.type === 'object' && schema.properties
      ? addObject(schema.name ?? place, schema)
      : undefined;
  };
  const itemsOf = (schema, place) => schema.properties && addObject(schema.name ?? `${place}[]`, schema);
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    ['get', 'post'].flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const [status, reply] = Object.entries(operation.responses).find(([code]) => /^2\d\d$/.test(code));
      const schema = reply.content?.['application/json'].schema;
      const known =
        schema === undefined
          ? {}
          : { status: Number(status), reply: addObject(resolve(schema).name, resolve(schema)) };
      return [{ id: operation.operationId, method: method.toUpperCase(), path, ...known }];
    }),
  );
  addObject('Error', schemas.Error);
  addObject('SignedEvent', schemas.SignedEvent);
  const codes = [
    ...schemas.Error.properties.error.properties.code.description.matchAll(/([A-Z_]+) \((\d+)\)/g),
  ];
  const headers = Object.keys(paths['/esign/templates'].get.responses['200'].headers);
  const bodyOf = (name) => Object.keys(schemas[name].properties);
  return {
    operations,
    objects,
    errorStatuses: Object.fromEntries(codes.map(([, code, status]) => [code, Number(status)])),
    rateHeaders: headers,
    events: schemas.EventName.enum,
    signature: {
      header: parameters[webhooks.envelopeEvent.post.parameters[0].$ref.split('/').at(-1)].name,
      pattern: parameters.Signature.schema.pattern,
    },
    createFields: bodyOf('CreateEnvelope'),
  };
}

if (process.argv[1] === import.meta.filename) {
  const document = documentOf(readFileSync(join(root, 'contract/openapi.yaml'), 'utf8'));
  const file = join(root, 'src/compatibility/document.json');
  writeFileSync(file, JSON.stringify(document));
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  execFileSync(process.execPath, [biome, 'format', '--write', file], { stdio: 'inherit' });
}
