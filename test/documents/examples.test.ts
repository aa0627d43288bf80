// Every example in the help works with the embedded service, and prints something.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../src/commands/command-table.ts';
import { PAGES as TOPIC_PAGES } from '../../src/commands/help/pages.ts';
import { TOPICS } from '../../src/commands/table/topics.ts';
import type { CommandDeclaration } from '../../src/declarations.ts';
import { temporaryDirectory } from '../support/io.ts';
import { writeSampleOva } from '../support/package-writer.ts';
import { emulatorUser, PASSWORD } from '../support/users.ts';

const USERS = ['demo', 'alice', 'backup'];

/** Commands that never end, need a keychain or are tested as processes. */
const SKIPPED = /^(?:emulator|demo|mcp)\b|--store-password/;
/** Commands that print nothing if they succeed; a good package has no findings. */
const SILENT =
  /^(?:login|logout|config (?:set|unset)|profile (?:use|delete)|validate|images changes|images snapshot --file|images lock remove)\b/;

/** Returns the calls of imgctl in a line, without what they are piped into. */
function callsIn(line: string): string[] {
  const [own = ''] = line.split('xargs');
  return [...own.matchAll(/imgctl (\w[^|)&>]*)/g)].map(([, call = '']) => call.trim());
}

function examplesBelow({ name, examples, subcommands = [] }: CommandDeclaration, parent = '') {
  const title = `${parent} ${name}`.trim();
  const below: [string, readonly string[]][] = [[title, examples]];
  for (const each of subcommands) below.push(...examplesBelow(each, title));
  return below.filter(([, lines]) => lines.length > 0);
}

function examplesOfTopics(): [string, readonly string[]][] {
  return TOPICS.map(({ name }): [string, readonly string[]] => {
    const lines = TOPIC_PAGES[name].flatMap((block) =>
      typeof block === 'object' && 'shell' in block ? block.shell : [],
    );
    return [`imgctl help ${name}`, lines];
  }).filter(([, lines]) => lines.length > 0);
}

/** Returns a user with uploads, a sync, two profiles and packages in the working directory. */
async function world(page: string) {
  const uploads = temporaryDirectory();
  for (const name of USERS) {
    mkdirSync(path.join(uploads, name));
    await writeSampleOva(path.join(uploads, name, 'sample.ova'));
  }
  const cwd = temporaryDirectory();
  await writeSampleOva(path.join(cwd, 'appliance.ova'), 'appliance');
  execFileSync('tar', ['-xf', 'appliance.ova'], { cwd });
  const password = path.join(cwd, 'password');
  writeFileSync(password, 'demo\n');
  const user = await emulatorUser({
    images: 250,
    uploads,
    syncDelay: 0,
    tokenLimit: 100,
    users: USERS.map((name) => ({ name, password: 'demo' })),
    until: Date.now(),
  });
  const { baseUrl } = user.emulator;
  const run = (line: string) => {
    const text = line
      .replaceAll('https://images.example.com', baseUrl)
      .replace('/run/secrets/imgctl', password)
      .replace('*.ova', 'appliance.ova');
    const words = text.match(/(?:'[^']*'|[^\s'])+/g) ?? [];
    const argv = words.map((word) => word.replaceAll("'", ''));
    return user.imgctl(argv, { env: PASSWORD, cwd, stdin: 'demo\n' });
  };
  for (const profile of ['default', 'staging']) {
    const login = await run(`login --base-url ${baseUrl} --profile ${profile}`);
    expect(login.exitCode).toBe(0);
  }
  await run(`config set upload-url file://${path.join(uploads, 'demo')}`);
  await run('sync --wait --poll-interval 1ms');
  await run('images snapshot --file catalogue.json');
  if (!/lock$|lock add|choosing/.test(page)) {
    await run('images lock add web ubuntu 22.04 server');
    await run('images lock add db debian genericcloud -f folder,ne,archive');
    copyFileSync(path.join(cwd, 'images.lock.json'), path.join(cwd, 'ci.lock.json'));
  }
  return { run };
}

const PAGES = [...examplesBelow(ROOT), ...examplesOfTopics()];

it.each(PAGES)('the examples of %s work and print something', async (page, lines) => {
  const { run } = await world(page);
  for (const line of lines) {
    for (const call of callsIn(line)) {
      if (SKIPPED.test(call)) continue;
      const { stdout, stderr, exitCode } = await run(call);
      expect({ call, exitCode, stderr }).toEqual({ call, exitCode: 0, stderr: expect.anything() });
      if (SILENT.test(call)) continue;
      expect({ call, stdout }).toEqual({ call, stdout: expect.stringMatching(/./) });
      if (/--json/.test(call)) expect({ call, stdout }).not.toEqual({ call, stdout: '[]\n' });
      // A header alone is no result.
      if (/-o csv/.test(call)) expect(stdout.split('\n').length).toBeGreaterThan(2);
    }
  }
});
