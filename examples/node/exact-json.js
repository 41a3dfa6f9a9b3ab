'use strict';

// A strict JSON reader (RFC 8259) that loses nothing: JSON.parse reads 447984124732375041 as the nearest binary64, and gives
// the last of two equal names without a word. Numbers come as ExactNumber, which keeps the text; objects as Map, which keeps
// names such as __proto__ ordinary.

class ExactNumber {
  constructor(text) {
    this.text = text;
  }

  get isInteger() {
    return /^-?\d+$/.test(this.text);
  }
}

class JsonError extends Error {}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const MAX_DEPTH = 500;

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  fail(what) {
    throw new JsonError(`${what} at character ${this.at}`);
  }

  skipWhite() {
    for (;;) {
      const c = this.text.charCodeAt(this.at);
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return c;
      this.at += 1;
    }
  }

  expect(word, value) {
    if (!this.text.startsWith(word, this.at)) this.fail('no JSON value');
    this.at += word.length;
    return value;
  }

  value(depth) {
    if (depth > MAX_DEPTH) this.fail('nested too deeply');
    switch (this.skipWhite()) {
      case 0x7b: return this.object(depth);
      case 0x5b: return this.array(depth);
      case 0x22: return this.string();
      case 0x74: return this.expect('true', true);
      case 0x66: return this.expect('false', false);
      case 0x6e: return this.expect('null', null);
      default: {
        NUMBER.lastIndex = this.at;
        const found = NUMBER.exec(this.text);
        if (!found) this.fail('no JSON value');
        this.at = NUMBER.lastIndex;
        return new ExactNumber(found[0]);
      }
    }
  }

  object(depth) {
    const found = new Map();
    this.at += 1;
    if (this.skipWhite() === 0x7d) {
      this.at += 1;
      return found;
    }
    for (;;) {
      if (this.skipWhite() !== 0x22) this.fail('no name');
      const name = this.string();
      if (found.has(name)) this.fail(`second ${JSON.stringify(name)}`);
      if (this.skipWhite() !== 0x3a) this.fail('no colon');
      this.at += 1;
      found.set(name, this.value(depth + 1));
      const c = this.skipWhite();
      this.at += 1;
      if (c === 0x7d) return found;
      if (c !== 0x2c) this.fail('no comma');
    }
  }

  array(depth) {
    const found = [];
    this.at += 1;
    if (this.skipWhite() === 0x5d) {
      this.at += 1;
      return found;
    }
    for (;;) {
      found.push(this.value(depth + 1));
      const c = this.skipWhite();
      this.at += 1;
      if (c === 0x5d) return found;
      if (c !== 0x2c) this.fail('no comma');
    }
  }

  string() {
    const begin = this.at;
    let escaped = false;
    for (let i = begin + 1; ; i += 1) {
      const c = this.text.charCodeAt(i);
      if (c === 0x22) {
        this.at = i + 1;
        if (!escaped) return this.text.slice(begin + 1, i);
        try {
          return JSON.parse(this.text.slice(begin, i + 1));
        } catch {
          this.at = begin;
          return this.fail('wrong escape in the string');
        }
      }
      if (c === 0x5c) {
        escaped = true;
        i += 1;
      } else if (!(c >= 0x20)) {
        this.at = i;
        this.fail(i < this.text.length ? 'raw control character' : 'end of the text in a string');
      }
    }
  }
}

/** The value of a JSON text. Throws JsonError, also for anything but white space behind the value. */
function parse(text) {
  const reader = new Reader(text);
  const value = reader.value(0);
  reader.skipWhite();
  if (reader.at < text.length) reader.fail('trailing content');
  return value;
}

module.exports = { parse, ExactNumber, JsonError };
