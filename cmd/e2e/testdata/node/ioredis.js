'use strict';
// ioredis with nothing configured but the address and, where there is one, the user.

const Redis = require('ioredis');
const { assert, host, port, username, password, bytes, large, run } = require('./check');

run(async () => {
  const client = new Redis(username ? { host, port, username, password } : { host, port });
  const failures = [];
  client.on('error', (err) => failures.push(err));

  assert.equal(await client.set('io:plain', 'value', 'EX', 100), 'OK');
  assert.equal(await client.get('io:plain'), 'value');
  assert.equal(await client.get('io:missing'), null);
  assert.ok((await client.ttl('io:plain')) > 90);
  await client.set('io:bytes', bytes);
  assert.deepEqual(await client.getBuffer('io:bytes'), bytes);
  await client.set('io:large', large);
  assert.deepEqual(await client.getBuffer('io:large'), large);

  const replies = await client.pipeline().set('io:a', 1).incr('io:a').incr('io:plain').get('io:a').exec();
  assert.deepEqual(replies.map(([err, reply]) => (err ? err.message : reply)),
    ['OK', 2, 'ERR value is not an integer or out of range', '2']);

  assert.deepEqual(await client.multi().set('io:b', 'x').append('io:b', 'y').get('io:missing').exec(),
    [[null, 'OK'], [null, 2], [null, null]]);
  await client.watch('io:b');
  await client.set('io:b', 'meanwhile');
  assert.equal(await client.multi().set('io:b', 'late').exec(), null);

  const fill = client.pipeline();
  for (let i = 0; i < 500; i++) fill.set(`io:scan:${i}`, i);
  await fill.exec();
  const found = new Set();
  for await (const keys of client.scanStream({ match: 'io:scan:*', count: 50 })) keys.forEach((key) => found.add(key));
  assert.equal(found.size, 500);

  assert.match(await client.info(), /redis_version:7\./);
  assert.equal(await client.del('io:a', 'io:b', 'io:missing'), 2);
  await assert.rejects(client.call('nosuch'), /ERR unknown command/);
  assert.equal(await client.quit(), 'OK');
  assert.deepEqual(failures, []);
});
