import { encode } from './canonical.ts';
import { compareKeys, type KeyIndex } from './key-index.ts';
import type { StoredObjectFacts } from './object-file.ts';
import { S3Error } from './s3-error.ts';
import type { Xml } from './xml.ts';

const MAX_KEYS = 1_000;

type Query = ReadonlyMap<string, string>;

/** A page of a listing: objects, common prefixes, and where the next page starts. */
interface Page {
  contents: StoredObjectFacts[];
  prefixes: string[];
  /** The last key of this page if there are more pages. */
  next: string | undefined;
}

/** Returns a page of a bucket's objects for ListObjectsV2, or for ListObjects if `list-type` is absent. */
export function listResult(bucket: string, objects: KeyIndex, query: Query): Xml {
  const type = query.get('list-type') ?? '1';
  if (type !== '1' && type !== '2') throw new S3Error('InvalidArgument', 'Invalid List Type specified.');
  const encoding = query.get('encoding-type');
  const shown = shownBy(query);
  const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter') ?? ''];
  const limit = maxKeys(query.get('max-keys'));
  const after = type === '2' ? afterKey(query) : (query.get('marker') ?? '');
  const page = pageOf(objects, { prefix, delimiter, after, limit });
  return {
    Name: bucket,
    Prefix: shown(prefix),
    Delimiter: delimiter === '' ? undefined : shown(delimiter),
    MaxKeys: limit,
    EncodingType: encoding,
    IsTruncated: page.next !== undefined,
    ...(type === '2' ? secondPaging(page, query, shown) : firstPaging(page, after, shown)),
    Contents: page.contents.map((object) => ({
      Key: shown(object.key),
      LastModified: object.modifiedAt,
      ETag: `"${object.etag}"`,
      Size: object.size,
      StorageClass: 'STANDARD',
    })),
    CommonPrefixes: page.prefixes.map((one) => ({ Prefix: shown(one) })),
  };
}

/** Returns a function that encodes keys as the client requested. @throws S3Error for an unknown encoding. */
function shownBy(query: Query): (text: string) => string {
  const encoding = query.get('encoding-type');
  if (encoding !== undefined && encoding !== 'url')
    throw new S3Error('InvalidArgument', 'Invalid Encoding Method specified.');
  return encoding === 'url' ? encodePath : (text) => text;
}

function secondPaging(page: Page, query: Query, shown: (text: string) => string): Xml {
  const startAfter = query.get('start-after');
  return {
    KeyCount: page.contents.length + page.prefixes.length,
    StartAfter: startAfter === undefined ? undefined : shown(startAfter),
    ContinuationToken: query.get('continuation-token'),
    NextContinuationToken: page.next === undefined ? undefined : Buffer.from(page.next).toString('base64url'),
  };
}

function firstPaging(page: Page, after: string, shown: (text: string) => string): Xml {
  return { Marker: shown(after), NextMarker: page.next === undefined ? undefined : shown(page.next) };
}

function pageOf(
  objects: KeyIndex,
  wanted: { prefix: string; delimiter: string; after: string; limit: number },
): Page {
  const { prefix, delimiter, after, limit } = wanted;
  const page: Page = { contents: [], prefixes: [], next: undefined };
  if (limit === 0) return page;
  let last = '';
  for (const object of matching(objects, prefix, after)) {
    const common = commonPrefix(object.key, prefix, delimiter);
    if (!isListed(common, page, after)) {
      if (page.contents.length + page.prefixes.length === limit) return { ...page, next: last };
      if (common === undefined) page.contents.push(object);
      else page.prefixes.push(common);
    }
    last = object.key;
  }
  return page;
}

/** Yields the objects after a key whose keys start with the prefix. They are adjacent. */
function* matching(objects: KeyIndex, prefix: string, after: string): Generator<StoredObjectFacts> {
  for (const object of objects.from(compareKeys(after, prefix) > 0 ? after : prefix)) {
    if (!object.key.startsWith(prefix)) return;
    if (object.key !== after) yield object;
  }
}

/** Returns true if a common prefix is already listed. It is listed once, even if the previous page ended inside it. */
function isListed(common: string | undefined, page: Page, after: string): boolean {
  return common !== undefined && (common === page.prefixes.at(-1) || after.startsWith(common));
}

function afterKey(query: Query): string {
  const token = query.get('continuation-token');
  if (token === undefined) return query.get('start-after') ?? '';
  if (!/^[\w-]+$/.test(token))
    throw new S3Error('InvalidArgument', 'The continuation token provided is incorrect.');
  return Buffer.from(token, 'base64url').toString('utf8');
}

/** Returns the common prefix up to the next delimiter; undefined for a key without a delimiter. */
function commonPrefix(key: string, prefix: string, delimiter: string): string | undefined {
  if (delimiter === '') return undefined;
  const end = key.indexOf(delimiter, prefix.length);
  return end < 0 ? undefined : key.slice(0, end + delimiter.length);
}

function maxKeys(text: string | undefined): number {
  if (text === undefined) return MAX_KEYS;
  if (!/^\d{1,9}$/.test(text)) throw new S3Error('InvalidArgument', 'max-keys must be a whole number.');
  return Math.min(MAX_KEYS, Number(text));
}

function encodePath(text: string): string {
  return text.split('/').map(encode).join('/');
}
