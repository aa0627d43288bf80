// The connection to Redis: what its replies mean, and which of them end it.

import net from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Redis } from '../../src/session/redis.ts';
import { listen } from '../support/sockets.ts';

/** Connects to a server that answers each command with this text, in pieces of this size. */
async function connect(reply: string, size = reply.length) {
  const commands: string[] = [];
  const server = net.createServer((socket) => {
    socket.on('error', () => {}).setNoDelay();
    socket.on('data', (data) => {
      commands.push(data.toString());
      for (let at = 0; at < reply.length; at += size) socket.write(reply.slice(at, at + size));
    });
  });
  const { port } = new URL((await listen(server)).baseUrl);
  const host = '127.0.0.1';
  const address = { tls: false, host, port: Number(port), username: undefined, database: 0 };
  const redis = new Redis({ ...address, text: '' }, undefined);
  onTestFinished(() => redis.destroy());
  return { redis, commands };
}

describe('a connection to Redis', () => {
  it.each([
    ['+OK\r\n', 'OK'],
    [':-2\r\n', -2],
    ['$-1\r\n', null],
    ['$0\r\n\r\n', ''],
    ['$6\r\n\u00e9\r\n+x\r\n', '\u00e9\r\n+x'],
  ])('returns the reply %j, whole or byte by byte', async (reply, expected) => {
    for (const size of [undefined, 1]) {
      const { redis } = await connect(reply, size);
      expect([await redis.send('GET', 'a'), await redis.send('GET', 'b')]).toEqual([
        expected,
        expected,
      ]);
    }
  });

  it('sends the words of a command with their lengths in bytes', async () => {
    const { redis, commands } = await connect('+OK\r\n');
    await redis.send('SET', 'k', '\u00e9\r\n');
    expect(commands.join('')).toBe('*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\n\u00e9\r\n\r\n');
  });

  it.each([
    ['-WRONGPASS invalid password.\r\n', 'WRONGPASS invalid password'],
    ['*0\r\n', 'it sent an unexpected reply'],
    ['$x\r\n', 'it sent an unexpected reply'],
    ['$0x2\r\nab\r\n', 'it sent an unexpected reply'],
    [':abc\r\n', 'it sent an unexpected reply'],
    ['HTTP/1.1 400 Bad Request\r\n', 'it sent an unexpected reply'],
    [`$2000000000\r\n${'x'.repeat(2 ** 20)}`, 'it sent more than 1 MiB'],
    ['x'.repeat(2 ** 20 + 1), 'it sent more than 1 MiB'],
  ])('rejects a command after the reply %.20j', async (reply, message) => {
    const { redis } = await connect(reply);
    await expect(redis.send('GET', 'a')).rejects.toMatchObject({ code: 'unreachable', message });
  });

  it('ends at a reply that nobody waits for', async () => {
    const { redis } = await connect('+OK\r\n+OK\r\n');
    await redis.send('GET', 'a');
    const message = 'it sent an unexpected reply';
    await expect(redis.send('GET', 'b')).rejects.toMatchObject({ message });
  });
});
