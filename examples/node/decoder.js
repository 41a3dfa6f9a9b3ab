#!/usr/bin/env node
'use strict';

// A decoder as a process: JSON lines in, JSON lines out (docs/any-language.md). All that belongs to a format is in canal-json.js.
//
//     cdc-conformance run ticdc-canal-json --decoder "cmd:node examples/node/decoder.js" --broker none

const { changes, rows, returns } = require('./canal-json');

const FORMAT = 'ticdc-canal-json';
// What is not claimed is reported as unsupported, not failed: {"profiles": ["v7.*"], "kinds": ["ROW", "DDL"]}. This claims all.
const CAPABILITIES = {};

let out = [];
let level = 1;
let decode = null;

function say(answer) {
  out.push(JSON.stringify(answer));
}

function flush() {
  if (out.length === 0) return;
  // Standard output is the protocol's alone; console.error is for words.
  process.stdout.write(`${out.join('\n')}\n`);
  out = [];
}

function start(asked) {
  if (asked.cdc !== 1) throw new Error(`version ${asked.cdc} of the protocol is unknown`);
  if (asked.format && asked.format !== FORMAT) {
    say({ type: 'error', error: `this decoder reads ${FORMAT}, not ${asked.format}` });
    return;
  }
  say({ type: 'started', cdc: 1, name: 'example', language: 'JavaScript', levels: [1, 2], returns, capabilities: CAPABILITIES });
}

function answer(asked) {
  switch (asked.type) {
    case 'start':
      start(asked);
      flush();
      break;
    case 'begin':
      level = asked.level;
      decode = level === 1 ? changes(asked.deployment) : rows(asked.deployment, asked.table);
      break;
    case 'record':
      try {
        const found = decode(asked);
        say(level === 1 ? { type: 'changes', seq: asked.seq, changes: found } : { type: 'rows', seq: asked.seq, rows: found });
      } catch (error) {
        // A fault of ours on this record; the others are not to suffer for it.
        say({ type: 'error', seq: asked.seq, error: String(error.stack ?? error) });
      }
      if (out.length >= 500) flush();
      break;
    case 'end':
      say({ type: 'ended', batch: asked.batch });
      flush();
      break;
    default:
      throw new Error(`a line of type ${asked.type} is unknown`);
  }
}

// Lines end with \n and with nothing else: readline would also end them at U+2028. They are ASCII, so latin1 reads them.
let parts = [];
process.stdin.on('data', (chunk) => {
  let begin = 0;
  for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, begin)) {
    parts.push(chunk.subarray(begin, end));
    const line = parts.length === 1 ? parts[0] : Buffer.concat(parts);
    parts = [];
    begin = end + 1;
    answer(JSON.parse(line.toString('latin1')));
  }
  if (begin < chunk.length) parts.push(chunk.subarray(begin));
});
