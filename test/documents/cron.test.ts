// The lines for crontab in docs/, run as cron does: no output if all is well, else one message with its hint.

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { codeBlocks, readPage } from '../support/documents.ts';
import { serve } from '../support/emulator.ts';
import { temporaryDirectory } from '../support/io.ts';
import { writeSampleOva } from '../support/package-writer.ts';
import { runShell, writePrograms } from '../support/program.ts';
import { unusedPort } from '../support/sockets.ts';

const LINES =
  codeBlocks(readPage('docs/unattended.md'), 'crontab')
    .join('')
    .match(/(?<=^(?:[\d*]+ +){5})imgctl.*/gm) ?? [];

/** A home with a login, a storage, a package, a lock and baselines of the changes. */
async function cronUser() {
  const uploads = temporaryDirectory();
  const { baseUrl, uploadUrl } = await serve({ uploads, syncDelay: 0 });
  const home = temporaryDirectory();
  for (const name of ['images', 'build']) mkdirSync(path.join(home, name));
  const [metrics = ''] = codeBlocks(readPage('docs/unattended.md'), 'shell');
  writePrograms(path.join(home, 'bin'), {
    'imgctl-metrics': metrics.replace('/var/lib/prometheus/node-exporter', home),
  });
  await writeSampleOva(path.join(home, 'images/appliance.ova'), 'appliance');
  const env = { HOME: home, PATH: `${home}/bin:/usr/bin:/bin`, LOGNAME: 'demo', SHELL: '/bin/sh' };
  /** Returns all output, as cron mails it. */
  const run = async (line: string, more = {}) => {
    const { stdout, stderr } = await runShell(line, { cwd: home, env: { ...env, ...more } });
    return stdout + stderr;
  };
  await run(`imgctl login -q --base-url ${baseUrl} -u demo --password-command 'echo demo'`);
  await run(`imgctl config set upload-url ${uploadUrl}; imgctl config set upload-username demo`);
  await run("imgctl config set upload-password-command 'echo demo'");
  await run('imgctl images lock add web ubuntu 22.04 server --file images.lock.json');
  for (const words of ['--cursor mail', 'ubuntu --cursor build']) {
    await run(`imgctl images changes ${words}`);
  }
  return run;
}

it('the lines for crontab in docs/ are silent on success and mail one message on failure', async () => {
  expect(LINES).toHaveLength(10);
  const run = await cronUser();
  for (const line of LINES) expect([line, await run(line)]).toEqual([line, '']);
  const push = LINES.find((line) => line.includes(' push ')) ?? '';
  expect(await run(`${push}; imgctl sync-status --list -q`)).toBe('3\n2\n1\n');
  // The page says how to begin the line if the folder may be empty.
  const [, guard = ''] =
    /begin the line of push with `(.*)`/.exec(readPage('docs/unattended.md')) ?? [];
  await run('mkdir empty');
  const empty = `${guard} ${push}`.replaceAll('images/*', 'empty/*');
  expect(await run(`${empty}; echo $?`)).toBe('');
  expect(await run(`${guard} ${push}`)).toBe('');
  await run('echo damaged >images/damaged.ova; cp images/appliance.ova images/other.ova');
  const mail =
    /^4\n3\n2\n1\nimgctl: error: .*damaged\.ova is invalid: [\s\S]*\nimgctl: 1 uploaded, 1 unchanged, 1 failed: damaged\.ova\n$/;
  expect(await run(`${push}; imgctl sync-status --list -q`)).toMatch(mail);
  await run('rm images/damaged.ova');
  const { baseUrl } = await unusedPort();
  await run('imgctl config set retries 0');
  for (const line of LINES) {
    // The storage still answers, so that only one thing fails.
    const mail = await run(line, { IMGCTL_BASE_URL: baseUrl });
    const message = line.includes('ndjson')
      ? /^\{"error":\{"code":"\S+","message":"[^"]+","hint":"[^"]+","exitCode":\d\}\}\n$/
      : /^(connection\n)?imgctl: [^\n]+\nhint: [^\n]+\n$/;
    expect({ line, mail }).toEqual({ line, mail: expect.stringMatching(message) });
  }
});
