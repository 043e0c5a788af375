'use strict';
// node-redis with nothing configured but the address and, where there is one, the user.

const { createClient, RESP_TYPES, WatchError } = require('redis');
const { assert, host, port, username, password, bytes, large, run } = require('./check');

run(async () => {
  const login = username ? `${username}:${password}@` : '';
  const client = createClient({ url: `redis://${login}${host}:${port}` });
  const failures = [];
  client.on('error', (err) => failures.push(err));
  await client.connect();
  const binary = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });

  assert.equal(await client.set('nr:plain', 'value', { EX: 100 }), 'OK');
  assert.equal(await client.get('nr:plain'), 'value');
  assert.equal(await client.get('nr:missing'), null);
  assert.ok((await client.ttl('nr:plain')) > 90);
  await client.set('nr:bytes', bytes);
  assert.deepEqual(await binary.get('nr:bytes'), bytes);
  await client.set('nr:large', large);
  assert.deepEqual(await binary.get('nr:large'), large);

  const replies = await Promise.allSettled([
    client.set('nr:a', '1'), client.incr('nr:a'), client.incr('nr:plain'), client.get('nr:a'),
  ]); // sent as one pipeline
  assert.deepEqual(replies.map((r) => (r.reason ? r.reason.message : r.value)),
    ['OK', 2, 'ERR value is not an integer or out of range', '2']);

  assert.deepEqual(await client.multi().set('nr:b', 'x').append('nr:b', 'y').get('nr:missing').exec(), ['OK', 2, null]);
  await client.watch('nr:b');
  await client.set('nr:b', 'meanwhile');
  await assert.rejects(client.multi().set('nr:b', 'late').exec(), WatchError);

  await Promise.all(Array.from({ length: 500 }, (_, i) => client.set(`nr:scan:${i}`, String(i))));
  const found = new Set();
  for await (const keys of client.scanIterator({ MATCH: 'nr:scan:*', COUNT: 50 })) keys.forEach((key) => found.add(key));
  assert.equal(found.size, 500);

  assert.match(await client.info(), /redis_version:7\./);
  assert.equal(await client.del(['nr:a', 'nr:b', 'nr:missing']), 2);
  await assert.rejects(client.sendCommand(['nosuch']), /ERR unknown command/);
  await client.close();
  assert.deepEqual(failures, []);
});
