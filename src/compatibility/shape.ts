import { isRecord } from '../kernel/json.ts';
import type { ApiDocument } from './api-document.ts';
import { ValueForms } from './forms.ts';
import type { Fact, FactTally } from './tally.ts';

/** A property name that is the service's own rather than an id or an address used as a key. */
const STORABLE_KEY = /^(?!(?:env|tmpl|signer|org|usr|user|key|evt|dlv)_)[A-Za-z][A-Za-z_]{0,39}$/;
/** Stands for all other keys. */
const OTHER_KEY = '*';
/** The maximum number of distinct shapes per object that are remembered. */
const MAX_SHAPES = 500;
/** The number of items compared in a long list, different ones each time. Comparing all items of a full page would take too long. */
const MAX_ITEMS = 25;

/**
 * Objects that are treated as another one. A list item is an ordinary envelope, except that the document doesn't show which
 * properties it has.
 */
const SAME_OBJECT: Readonly<Record<string, string>> = { EnvelopeListItem: 'Envelope' };

type Json = Readonly<Record<string, unknown>>;

interface Shape {
  facts: Fact[];
  responseNumber: number;
}

/**
 * An object of the API document in the responses of one operation. Each distinct shape is checked once. For a known shape, only a hash
 * over the forms of its values is computed.
 */
export class ObjectShapes {
  readonly #place: string;
  readonly #name: string;
  readonly #operation: string;
  readonly #tally: FactTally;
  readonly #names: readonly string[];
  readonly #forms: readonly ValueForms[];
  readonly #nested: readonly { name: string; object: ObjectShapes }[];
  readonly #shapes = new Map<number, Shape>();

  constructor(name: string, operation: string, document: ApiDocument, tally: FactTally) {
    const documented = Object.entries(document.objects[name] ?? {});
    this.#name = name;
    this.#place = SAME_OBJECT[name] ?? name;
    this.#operation = operation;
    this.#tally = tally;
    this.#names = documented.map(([property]) => property);
    this.#forms = documented.map(([, value]) => new ValueForms(value));
    this.#nested = documented.flatMap(([property, { of }]) =>
      of === undefined ? [] : [{ name: property, object: new ObjectShapes(of, operation, document, tally) }],
    );
  }

  /** Notes an object and the documented objects inside it. */
  see(value: Json): void {
    const hash = this.#hashOf(value);
    let shape = this.#shapes.get(hash);
    if (shape === undefined) {
      if (this.#shapes.size >= MAX_SHAPES) this.#shapes.clear();
      shape = { facts: this.#factsOf(value), responseNumber: 0 };
      this.#shapes.set(hash, shape);
    }
    const { responseNumber } = this.#tally;
    if (shape.responseNumber !== responseNumber) {
      shape.responseNumber = responseNumber;
      for (const fact of shape.facts) this.#tally.count(fact);
    }
    for (const { name, object } of this.#nested) object.#seeNested(value[name]);
  }

  #seeNested(value: unknown): void {
    if (!Array.isArray(value)) {
      if (isRecord(value)) this.see(value);
      return;
    }
    const { length } = value;
    const count = Math.min(length, MAX_ITEMS);
    const first = length > MAX_ITEMS ? ((this.#tally.responseNumber - 1) * MAX_ITEMS) % length : 0;
    for (let index = 0; index < count; index++) {
      const item: unknown = value[(first + index) % length];
      if (isRecord(item)) this.see(item);
      else this.#tally.note(`${this.#place}[]`, ANYTHING.formOf(item), this.#operation);
    }
  }

  #hashOf(value: Json): number {
    const names = this.#names;
    const forms = this.#forms;
    let hash = 7;
    let documented = 0;
    for (let index = 0; index < names.length; index++) {
      const code = forms[index]?.codeOf(value[names[index] ?? '']) ?? 0;
      if (code !== 0) documented += 1;
      hash = mix(hash, code);
    }
    let keys = 0;
    for (const _ in value) keys += 1;
    return keys === documented ? hash : this.#hashOfOthers(value, hash);
  }

  #hashOfOthers(value: Json, start: number): number {
    let hash = start;
    for (const key in value) {
      if (this.#names.includes(key)) continue;
      for (let index = 0; index < key.length; index++) hash = mix(hash, key.charCodeAt(index));
      hash = mix(hash, ANYTHING.codeOf(value[key]));
    }
    return hash;
  }

  #factsOf(value: Json): Fact[] {
    const fact = (place: string, form: string) => this.#tally.fact(place, form, this.#operation);
    const facts = [fact(this.#name, 'object')];
    for (const [index, name] of this.#names.entries()) {
      const forms = this.#forms[index] ?? ANYTHING;
      const form = forms.formOf(value[name]);
      // Which optional properties an item lacks is an open point of the list only.
      if (form !== 'missing') facts.push(fact(`${this.#place}.${name}`, form));
      else if (forms.value.type !== 'never') facts.push(fact(`${this.#name}.${name}`, form));
    }
    for (const key of Object.keys(value)) {
      if (this.#names.includes(key)) continue;
      const name = STORABLE_KEY.test(key) ? key : OTHER_KEY;
      facts.push(fact(`${this.#place}.${name}`, ANYTHING.formOf(value[key])));
    }
    return facts.filter((one) => one !== undefined);
  }
}

/** Determines only the type, for values that the document doesn't mention. */
const ANYTHING = new ValueForms({ type: 'string' });

function mix(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193) ^ (hash >>> 15);
}
