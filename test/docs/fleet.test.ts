// docs/fleet.md and the recipe for many machines: their commands, variables and rights are right.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { serve } from '../support/emulator.ts';
import { fakeIo, runCli, temporaryDirectory } from '../support/io.ts';
import { ACL, NO_REDIS, REDIS_REASON, STORE_PASSWORD, startRedis } from '../support/redis.ts';

const read = (name: string) =>
  readFileSync(path.join(import.meta.dirname, '../../docs', name), 'utf8');
const PAGE = read('fleet.md');

/** Returns the code blocks of a language. */
function blocks(page: string, language: string): string[] {
  const fences = page.matchAll(/^```(\w+)\n(.*?)^```$/gms);
  return [...fences].filter((fence) => fence[1] === language).map((fence) => fence[2] ?? '');
}

it('docs/fleet.md names only existing variables and settings of imgctl', async () => {
  const environment = (await runCli(['help', 'environment'])).stdout;
  const names = new Set(PAGE.match(/\bIMGCTL_[A-Z_]+/g));
  expect(names.size).toBeGreaterThan(5);
  for (const name of names) expect(environment).toMatch(new RegExp(`^ +${name}( |$)`, 'm'));
});

it('docs/fleet.md gives the Redis user the rights that the tests use', () => {
  const [rules = ''] = blocks(PAGE, 'redis');
  expect(rules).toContain(`user imgctl on >PASSWORD ${ACL}\n`);
});

const COMMANDS = [PAGE, read('recipes.md')]
  .flatMap((page) => blocks(page, 'sh'))
  .flatMap((block) => block.match(/^imgctl config set .*$/gm) ?? []);

it.each(COMMANDS)('the documented command works: %s', async (line) => {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
  const env = { IMGCTL_CONFIG_DIR: temporaryDirectory() };
  expect(await runCli(words.slice(1), { env })).toEqual({ stdout: '', stderr: '', exitCode: 0 });
  const { stdout } = await runCli(['config', 'get', words[3] ?? ''], { env });
  expect(stdout).toBe(`${words[4]}\n`);
});

describe('the CronJob of docs/fleet.md', () => {
  const job = parse(blocks(PAGE, 'yaml')[0] ?? '');
  const [container] = job.spec.jobTemplate.spec.template.spec.containers;

  it.skipIf(NO_REDIS)(`shares the token of its account${REDIS_REASON}`, async () => {
    const redis = await startRedis();
    const users = [{ name: 'alice', password: 'secret' }];
    let requests = 0;
    const { baseUrl } = await serve({
      users,
      images: 3,
      onRequest: ({ method }) => {
        if (method === 'POST') requests += 1;
      },
    });
    const folder = temporaryDirectory();
    mkdirSync(path.join(folder, 'secrets'));
    writeFileSync(path.join(folder, 'secrets/password'), 'secret\n');
    writeFileSync(path.join(folder, 'secrets/redis-password'), `${STORE_PASSWORD}\n`);
    const key = Buffer.alloc(32, 5).toString('base64');
    writeFileSync(path.join(folder, 'secrets/token-key'), `${key}\n`);
    const variables: { name: string; value: string }[] = container.env;
    for (const pod of ['one', 'two']) {
      const put = (text: string) =>
        text
          .replace('https://images.example.com', baseUrl)
          .replace(/^rediss:.*/, redis.url)
          .replace('/run/secrets/imgctl', path.join(folder, 'secrets'))
          .replace(/^\/tmp\/imgctl$/, path.join(folder, pod));
      const env = Object.fromEntries(variables.map(({ name, value }) => [name, put(value)]));
      const { stdout, stderr, exitCode } = await runCli(container.args, fakeIo({ env }));
      expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
      expect(JSON.parse(stdout)).toHaveLength(3);
    }
    expect(requests).toBe(1);
    expect(redis.cli('get', redis.cli('keys', '*token'))).toMatch(/^sealed:/);
  });
});
