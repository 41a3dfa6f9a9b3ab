'use strict';

// TiCDC Canal-JSON, from PingCAP's document "TiCDC Canal-JSON Protocol" (TiDB v6.0) and what TiCDC is known to write beside it:
// https://docs.pingcap.com/tidb/stable/ticdc-canal-json
//
// A message that is not what the document describes is one CORRUPT change, never an exception and never a guess.

const { parse, ExactNumber, JsonError } = require('./exact-json');
const { snappy, lz4, CompressionError } = require('./compression');
const { typed, Unfit } = require('./typed-cells');

class Unreadable extends Error {}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of a value, which the protocol gives as {"text"} when it is UTF-8, else as {"base64"}. */
function textOf(value, compression) {
  if (value === null) throw new Unreadable('no value');
  if (compression === 'none' && 'text' in value) return value.text;
  let bytes = 'text' in value ? Buffer.from(value.text, 'utf8') : Buffer.from(value.base64, 'base64');
  if (compression === 'snappy') bytes = snappy(bytes);
  else if (compression === 'lz4') bytes = lz4(bytes);
  else if (compression !== 'none') throw new Unreadable(`compression ${compression} is unknown`);
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new Unreadable('not UTF-8');
  }
}

function string(message, name) {
  const found = message.get(name);
  if (typeof found !== 'string') throw new Unreadable(`${name} is no string`);
  return found;
}

function integer(message, name) {
  const found = message.get(name);
  if (!(found instanceof ExactNumber) || !found.isInteger) throw new Unreadable(`${name} is no integer`);
  return found.text;
}

/** A map of texts; every value that TiCDC writes is a string or null, whatever the column's type. */
function texts(found, name, nullable) {
  if (!(found instanceof Map)) throw new Unreadable(`${name} is no object`);
  for (const [column, value] of found) {
    if (typeof value !== 'string' && !(nullable && value === null)) throw new Unreadable(`${name}.${column} is no string`);
  }
  return Object.fromEntries(found);
}

/** The row of `data` or `old`: an array of exactly one object. */
function row(message, name) {
  const found = message.get(name);
  if (!Array.isArray(found) || found.length !== 1) throw new Unreadable(`${name} is no array of one row`);
  return texts(found[0], `${name}[0]`, true);
}

/** The TSO of the TiDB extension; null without the extension. It is beyond 2^53. */
function tso(message, name) {
  if (!message.has('_tidb')) return null;
  const extension = message.get('_tidb');
  if (!(extension instanceof Map)) throw new Unreadable('_tidb is no object');
  return extension.has(name) ? integer(extension, name) : null;
}

function keys(message) {
  const found = message.get('pkNames') ?? null;
  if (found !== null && !(Array.isArray(found) && found.every((name) => typeof name === 'string'))) {
    throw new Unreadable('pkNames is no array of names');
  }
  return found;
}

function change(text) {
  const message = parse(text);
  if (!(message instanceof Map)) throw new Unreadable('not an object');
  const isDdl = message.get('isDdl');
  if (typeof isDdl !== 'boolean') throw new Unreadable('isDdl is no boolean');
  const type = string(message, 'type');
  const watermark = !isDdl && type === 'TIDB_WATERMARK';
  const common = {
    row: 0,
    database: string(message, 'database'),
    table: string(message, 'table'),
    position: tso(message, watermark ? 'watermarkTs' : 'commitTs'),
    commit_time_us: (BigInt(integer(message, 'es')) * 1000n).toString(),
  };
  if (isDdl) return { ...common, kind: 'DDL', sql: string(message, 'sql') };
  if (watermark) return { ...common, kind: 'WATERMARK' };
  // A reduced message of a table without a handle key carries no column, and may then have null for its types.
  const types = message.get('mysqlType') === null ? null : texts(message.get('mysqlType'), 'mysqlType', false);
  const named = { ...common, kind: 'ROW', op: type, keys: keys(message), types };
  switch (type) {
    // What old holds beside INSERT (null, [null] before v5.4) and DELETE (null, the row again before v5.4) tells nothing.
    case 'INSERT': return { ...named, after: row(message, 'data') };
    case 'UPDATE': return { ...named, before: row(message, 'old'), after: row(message, 'data') };
    case 'DELETE': return { ...named, before: row(message, 'data') };
    default: throw new Unreadable(`type ${type} is unknown`);
  }
}

/** What `read` gives, or one CORRUPT change when the message cannot be read. */
function orCorrupt(read) {
  try {
    return read();
  } catch (error) {
    if (![Unreadable, JsonError, CompressionError, Unfit].some((kind) => error instanceof kind)) throw error;
    return [{ row: 0, kind: 'CORRUPT', error: error.message }];
  }
}

/** Level one: what gives the changes of a record; one, since TiCDC writes a record for each. */
function changes(deployment) {
  return (record) => orCorrupt(() => [change(textOf(record.value, deployment.compression))]);
}

/** Level two: what gives the row changes of one table, typed. A partial `old` is completed from `data`. */
function rows(deployment, table) {
  const cells = typed(table, deployment.time_zone);
  return (record) => orCorrupt(() => {
    const found = change(textOf(record.value, deployment.compression));
    if (found.kind !== 'ROW' || found.database !== table.database || found.table !== table.name) return [];
    const before = found.op === 'UPDATE' ? { ...found.after, ...found.before } : found.before;
    const images = { before: before ? cells(before) : null, after: found.after ? cells(found.after) : null };
    return [{ row: 0, kind: 'ROW', op: found.op, ...images }];
  });
}

module.exports = { changes, rows, returns: ['position', 'commit_time_us', 'types'] };
