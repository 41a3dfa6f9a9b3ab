'use strict';

// Canal-JSON's texts as typed cells (level two): what TiDB writes for each type, and the form that the protocol has for it.

class Unfit extends Error {}

const INTEGER = /^-?\d+$/;
const NUMBER = /^-?\d+(?:\.\d+)?$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATETIME = /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?$/;
const TIME = /^-?(\d{2,3}):[0-5]\d:[0-5]\d(?:\.\d{1,6})?$/;

function integer(text, low, high) {
  if (!INTEGER.test(text)) throw new Unfit('no integer');
  const value = BigInt(text);
  if ((low !== undefined && value < low) || (high !== undefined && value > high)) throw new Unfit('out of range');
  return text;
}

function decimal(text, precision, scale) {
  if (!NUMBER.test(text)) throw new Unfit('no decimal');
  const [whole, fraction = ''] = text.replace('-', '').split('.');
  const digits = whole.replace(/^0+/, '').length;
  if (digits > precision - scale || fraction.replace(/0+$/, '').length > scale) throw new Unfit('too long');
  return text;
}

function real(text, single) {
  if (!NUMBER.test(text)) throw new Unfit('no number');
  const value = single ? Math.fround(Number(text)) : Number(text);
  if (!Number.isFinite(value)) throw new Unfit('out of range');
  return text;
}

/** Binary columns hold a character for each byte: ISO 8859-1, with C1 controls. */
function binary(text) {
  // v5.3 wrote U+FFFD in place of bytes that it lost: it stays, in UTF-8.
  const bytes = text.replaceAll('\ufffd', '\u00ef\u00bf\u00bd');
  if (/[^\u0000-\u00ff]/.test(bytes)) throw new Unfit('no bytes');
  return { base64: Buffer.from(bytes, 'latin1').toString('base64') };
}

/** Milliseconds of a wall clock, were it UTC; null when no calendar has the day. */
function wall(year, month, day, hour = 0, minute = 0, second = 0) {
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  if (at.getUTCMonth() !== month - 1 || at.getUTCDate() !== day) throw new Unfit('no day of the calendar');
  if (hour > 23 || minute > 59 || second > 59) throw new Unfit('no time of day');
  return at.getTime() + ((hour * 60 + minute) * 60 + second) * 1000;
}

/** The parts of a date or time; null for a zero date, whole or partial, which no calendar type holds. */
function parts(text, form) {
  const found = form.exec(text);
  if (!found) throw new Unfit('no date or time');
  const numbers = found.slice(1, 7).filter((one) => one !== undefined).map(Number);
  return numbers[1] === 0 || numbers[2] === 0 ? null : { numbers, fraction: found[7] ?? '' };
}

const zones = new Map();

/** How many milliseconds a zone is ahead of UTC at an instant. */
function ahead(zone, instant) {
  if (!zones.has(zone)) {
    zones.set(zone, new Intl.DateTimeFormat('en-US', {
      timeZone: zone, hourCycle: 'h23', era: 'short',
      year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric',
    }));
  }
  const told = Object.fromEntries(zones.get(zone).formatToParts(instant).map(({ type, value }) => [type, value]));
  return wall(+told.year, +told.month, +told.day, +told.hour, +told.minute, +told.second) - instant;
}

function timestamp(text, zone) {
  const found = parts(text, DATETIME);
  if (!found) return null;
  const local = wall(...found.numbers);
  // The offset before the wall clock's time, and the one after it; where a zone sets its clocks back, both may fit.
  const candidates = [86400e3, -86400e3].map((away) => local - ahead(zone, local - away));
  const instant = candidates.find((at) => at + ahead(zone, at) === local);
  const at = new Date(instant ?? local - ahead(zone, local)).toISOString().slice(0, 19);
  return `${at}${found.fraction && `.${found.fraction}`}Z`;
}

/** What reads the texts of a column. */
function reader(column, zone) {
  const { type, spark } = column;
  const low = type.low === undefined ? undefined : BigInt(type.low);
  const high = type.high === undefined ? undefined : BigInt(type.high);
  switch (type.logical) {
    case 'int': case 'year': return (text) => integer(text, low, high);
    case 'decimal': return spark === 'string' ? (text) => text : (text) => decimal(text, type.precision, type.scale);
    case 'float': return (text) => real(text, true);
    case 'double': return (text) => real(text, false);
    case 'bit': {
      const top = (1n << BigInt(type.length ?? 1)) - 1n;
      return spark === 'boolean' ? (text) => integer(text, 0n, top) === '1' : (text) => integer(text, 0n, top);
    }
    case 'enum': return (text) => integer(text, 0n, 65535n);
    case 'set': return (text) => integer(text, 0n, (1n << 64n) - 1n);
    case 'binary': return binary;
    case 'date': return (text) => {
      const found = parts(text, DATE);
      return found && wall(...found.numbers) !== null ? text : null;
    };
    case 'datetime': return (text) => {
      const found = parts(text, DATETIME);
      return found && wall(...found.numbers) !== null ? text.replace(' ', 'T') : null;
    };
    case 'timestamp': return (text) => timestamp(text, zone);
    case 'time': return (text) => {
      const found = TIME.exec(text);
      if (!found || Number(found[1]) > 838) throw new Unfit('no time');
      return text;
    };
    default: return (text) => text;
  }
}

/** What makes images of texts into typed ones, for the columns of a table. */
function typed(table, zone) {
  const readers = table.columns.map((column) => [column.name, reader(column, zone)]);
  return (image) => {
    const found = {};
    for (const [name, read] of readers) {
      const text = Object.hasOwn(image, name) ? image[name] : null;
      try {
        found[name] = text === null ? null : read(text);
      } catch (error) {
        if (error instanceof Unfit) throw new Unfit(`${name}: ${error.message}: ${text.slice(0, 60)}`);
        throw error;
      }
    }
    return found;
  };
}

module.exports = { typed, Unfit };
