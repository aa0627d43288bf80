// Every example in the help, as docs/cli.md has it, works with the emulator and prints something.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { codeBlocks, readPage } from '../support/documents.ts';
import { temporaryDirectory } from '../support/io.ts';
import { writeSampleOva } from '../support/package-writer.ts';
import { emulatorUser, PASSWORD } from '../support/users.ts';

const USERS = ['demo', 'alice', 'backup'];

/** Commands that never end, need a keychain or are tested as processes. */
const SKIPPED = /^(?:emulator|demo|mcp)\b|--store-password/;
/** Commands that print nothing if they succeed; a good package has no findings. */
const SILENT =
  /^(?:login|logout|config (?:set|unset)|profile (?:use|delete)|validate|images changes|images snapshot \w+|images lock remove)\b/;

/** The calls of imgctl in each section, without what they are piped into. */
const SECTIONS = readPage('docs/cli.md')
  .split(/^## /m)
  .map((section) => {
    const lines = codeBlocks(section, 'sh').join('').split('\n');
    const calls = lines.flatMap((line) => [
      ...(line.split('xargs')[0] ?? '').matchAll(/imgctl (\w(?:'[^']*'|[^|)&>])*)/g),
    ]);
    return [section.split('\n')[0] ?? '', calls.map(([, call = '']) => call.trim())] as const;
  });

/** Returns a user with uploads, a sync, two profiles and packages in the working directory. */
async function exampleUser(title: string) {
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
  const { emulator, imgctl } = await emulatorUser({
    ...{ images: 250, uploads, syncDelay: 0, tokenLimit: 100, until: Date.now() },
    users: USERS.map((name) => ({ name, password: 'demo' })),
  });
  const run = (line: string) => {
    const text = line
      .replaceAll('https://images.example.com', emulator.baseUrl)
      .replace('dav+https://uploads.example.com/alice', `file://${path.join(uploads, 'alice')}`)
      .replace('/run/secrets/imgctl', password)
      .replace('*.ova', 'appliance.ova');
    const words = text.match(/(?:'[^']*'|[^\s'])+/g) ?? [];
    const argv = words.map((word) => word.replaceAll("'", ''));
    return imgctl(argv, { env: PASSWORD, cwd, stdin: 'demo\n' });
  };
  for (const profile of ['default', 'staging']) {
    await run(`login --base-url https://images.example.com --profile ${profile}`);
  }
  await run(`config set upload-url file://${path.join(uploads, 'demo')}`);
  await run('sync --wait --poll-interval 500ms');
  await run('images snapshot catalogue.json');
  if (!/lock$|lock add|choosing/.test(title)) {
    await run('images lock add web ubuntu 22.04 server');
    await run('images lock add db debian genericcloud -f folder,ne,archive');
    copyFileSync(path.join(cwd, 'images.lock.json'), path.join(cwd, 'ci.lock.json'));
  }
  return run;
}

const RUNNABLE = SECTIONS.filter(([, calls]) => calls.some((call) => !SKIPPED.test(call)));

it.each(RUNNABLE)('the examples of %s work and print something', async (title, calls) => {
  const run = await exampleUser(title);
  for (const call of calls.filter((each) => !SKIPPED.test(each))) {
    const { stdout, stderr, exitCode } = await run(call);
    expect({ call, exitCode, stderr }).toEqual({ call, exitCode: 0, stderr: expect.anything() });
    if (SILENT.test(call)) continue;
    expect({ call, stdout }).toEqual({ call, stdout: expect.stringMatching(/./) });
    if (/--json/.test(call)) expect({ call, stdout }).not.toEqual({ call, stdout: '[]\n' });
    // A header alone is no result.
    if (/-o csv/.test(call)) expect(stdout.split('\n').length).toBeGreaterThan(2);
  }
});
