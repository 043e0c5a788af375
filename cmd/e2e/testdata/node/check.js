'use strict';
// What the scripts of all clients share: where the server is, and the values.

const assert = require('node:assert/strict');

const [, , host, port, username, password] = process.argv;

// Every byte there is, and a value that spans many packets.
const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
const large = Buffer.alloc(1200000, bytes);

// run ends the process with what went wrong, or with "ok".
async function run(main) {
  try {
    await main();
    console.log('ok');
  } catch (err) {
    console.error(err);
    process.exitCode = 1;
  }
}

module.exports = { assert, host, port: Number(port), username, password, bytes, large, run };
