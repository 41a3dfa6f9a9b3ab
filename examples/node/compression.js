'use strict';

// What TiCDC's large-message-handle-compression writes: the snappy block format and the LZ4 frame format.
// https://github.com/google/snappy/blob/main/format_description.txt
// https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md and lz4_Block_format.md

class CompressionError extends Error {}

function fail(what) {
  throw new CompressionError(what);
}

/** Copies `length` bytes from `distance` back; source and target may overlap. Gives the new end. */
function repeat(out, end, distance, length) {
  if (distance === 0 || distance > end) fail('a copy from before the beginning');
  if (end + length > out.length) fail('more output than announced');
  if (distance >= length) {
    out.copyWithin(end, end - distance, end - distance + length);
  } else {
    for (let i = 0; i < length; i += 1) out[end + i] = out[end + i - distance];
  }
  return end + length;
}

/** Uncompresses one snappy block. */
function snappy(input) {
  let at = 0;
  let size = 0;
  for (let shift = 0; ; shift += 7) {
    if (at >= input.length || shift > 28) fail('no snappy length');
    const byte = input[at];
    at += 1;
    size += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) break;
  }
  // A block cannot grow by more than this, whatever its header says.
  if (size > input.length * 64) fail('an impossible snappy length');
  const out = Buffer.alloc(size);
  let end = 0;
  const need = (count) => {
    if (at + count > input.length) fail('a truncated snappy block');
  };
  while (at < input.length) {
    const tag = input[at];
    at += 1;
    if ((tag & 3) === 0) {
      let length = (tag >> 2) + 1;
      if (length > 60) {
        const width = length - 60;
        need(width);
        length = input.readUIntLE(at, width) + 1;
        at += width;
      }
      need(length);
      if (end + length > size) fail('more output than announced');
      input.copy(out, end, at, at + length);
      at += length;
      end += length;
    } else if ((tag & 3) === 1) {
      need(1);
      end = repeat(out, end, ((tag >> 5) << 8) | input[at], ((tag >> 2) & 7) + 4);
      at += 1;
    } else {
      const width = (tag & 3) === 2 ? 2 : 4;
      need(width);
      end = repeat(out, end, input.readUIntLE(at, width), (tag >> 2) + 1);
      at += width;
    }
  }
  if (end !== size) fail('less output than announced');
  return out;
}

/** Uncompresses LZ4 frames, one after another. Checksums are skipped: a value that is damaged is no JSON. */
function lz4(input) {
  let at = 0;
  let out = Buffer.alloc(Math.max(1 << 16, input.length * 4));
  let end = 0;
  const need = (count) => {
    if (at + count > input.length) fail('a truncated LZ4 frame');
  };
  const room = (count) => {
    while (end + count > out.length) out = Buffer.concat([out, Buffer.alloc(out.length)]);
  };
  const more = () => {
    let length = 0;
    for (;;) {
      need(1);
      const byte = input[at];
      at += 1;
      length += byte;
      if (byte < 255) return length;
    }
  };
  const block = (stop) => {
    while (at < stop) {
      const token = input[at];
      at += 1;
      let length = token >> 4;
      if (length === 15) length += more();
      need(length);
      room(length);
      input.copy(out, end, at, at + length);
      at += length;
      end += length;
      if (at >= stop) break;
      need(2);
      const distance = input.readUInt16LE(at);
      at += 2;
      length = token & 15;
      if (length === 15) length += more();
      room(length + 4);
      end = repeat(out, end, distance, length + 4);
    }
    if (at !== stop) fail('an LZ4 block of another length than announced');
  };
  if (input.length === 0) fail('no LZ4 frame');
  while (at < input.length) {
    need(7);
    if (input.readUInt32LE(at) !== 0x184d2204) fail('no LZ4 frame');
    const flags = input[at + 4];
    if (flags >> 6 !== 1) fail('another version of LZ4 frames');
    at += 7 + (flags & 0x08 ? 8 : 0) + (flags & 0x01 ? 4 : 0);
    for (;;) {
      need(4);
      const size = input.readUInt32LE(at);
      at += 4;
      if (size === 0) break;
      const length = size & 0x7fffffff;
      need(length);
      if (size >>> 31) {
        room(length);
        input.copy(out, end, at, at + length);
        at += length;
        end += length;
      } else {
        block(at + length);
      }
      if (flags & 0x10) at += 4;
    }
    if (flags & 0x04) {
      need(4);
      at += 4;
    }
  }
  return out.subarray(0, end);
}

module.exports = { snappy, lz4, CompressionError };
