// Signals to the built program; what the demo leaves behind.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tryOr } from '../../src/errors.ts';
import { catalogueOf, named } from '../support/catalogue-page.ts';
import { serve, serveWithClock } from '../support/emulator.ts';
import { failed } from '../support/io.ts';
import { COMMAND, programUser, runProgram, startProgram, withHook } from '../support/program.ts';
import { NO_SCRIPT, onTerminal } from '../support/pseudo-terminal.ts';
import { onLinux } from '../support/requirements.ts';
import { account, freshHome } from '../support/users.ts';

const SIGNALS = [
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGQUIT', 131],
  ['SIGTERM', 143],
] as const;

/** One write of a megabyte, which is more than pipes and terminals hold. */
const longName = catalogueOf([named(1, 'x'.repeat(1_000_000))]);

/** A script for --require that blocks every thread for DNS lookups on a pipe. */
function haltedLookups(pipe: string): string {
  return `
    require('node:child_process').execFileSync('mkfifo', ['${pipe}']);
    for (let thread = 0; thread < 4; thread += 1) require('node:fs').open('${pipe}', () => {});
    const dns = require('node:dns');
    const { lookup } = dns;
    dns.lookup = (...words) => {
      process.stderr.write('looking up\\n');
      return lookup(...words);
    };`;
}

describe.each(SIGNALS)('%s', (signal, exitCode) => {
  it('ends images list to a pipe that nobody reads', async () => {
    const { env } = await programUser(longName);
    const [file, ...words] = COMMAND;
    const argv = [...words, 'images', 'list', '-o', 'ndjson'];
    const child = spawn(file, argv, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    // The write has begun. From now on nobody takes its bytes.
    await once(child.stdout, 'readable');
    child.kill(signal);
    const [code, endedBy] = await once(child, 'exit');
    expect([code, endedBy]).toEqual(code === null ? [null, signal] : [exitCode, null]);
  });

  it.skipIf(NO_SCRIPT)(`ends images list to a terminal that nobody reads${NO_SCRIPT}`, async () => {
    const { env } = await programUser(longName);
    const [pid, code] = ['pid', 'code'].map((name) => path.join(env.HOME, name)) as [
      string,
      string,
    ];
    const list = `sh -c "echo \\$\\$ >${pid}; exec $IMGCTL images list -o ndjson 2>/dev/tty"`;
    // The shell itself would write how the program ended, and wait.
    const started = onTerminal(env, `trap : HUP; exec 2>/dev/null; ${list}; echo $? >${code}`);
    await started.waitFor('stdout', '{');
    started.child.stdout?.pause();
    process.kill(Number(readFileSync(pid, 'utf8')), signal);
    const codeOf = () => tryOr(() => readFileSync(code, 'utf8'), '');
    await expect.poll(codeOf).toBe(`${exitCode}\n`);
  });

  // NODE_OPTIONS repeats the signal at once, as timeout(1) may; the single executable ignores it.
  it('ends sync --wait with the command that resumes, even if it comes twice', async () => {
    const { baseUrl } = await serve({ syncDelay: 3_600_000 });
    const again = `setImmediate(() => process.kill(process.pid, '${signal}'))`;
    const env = withHook(account(baseUrl), `process.once('${signal}', () => ${again});`);
    const sync = startProgram(['sync', '--wait'], { env });
    await sync.waitFor('stderr', 'sync 1: PENDING');
    sync.child.kill(signal);
    const message =
      /^sync 1: PENDING\nimgctl: \w+; sync request 1 continues\nhint: follow it with: imgctl sync-status 1 --wait\n$/;
    expect(await sync.ended).toEqual(failed(exitCode, message));
  });
});

describe('imgctl', () => {
  onLinux.each([
    ['started by nohup', 'nohup "$0" "$@"'],
    ['of a script that ignores it', 'trap "" HUP; "$0" "$@"'],
  ])('sync --wait %s goes on after SIGHUP (only on Linux)', async (_how, command) => {
    const service = await serveWithClock({ syncDelay: 60_000 });
    const env = account(service.baseUrl);
    const prelude = `${command} & echo $! >"$HOME/pid"; wait $!; exit $?`;
    const sync = startProgram(['sync', '--wait', '--poll-interval', '500ms'], { env, prelude });
    await sync.waitFor('stderr', 'sync 1: PENDING');
    process.kill(Number(readFileSync(path.join(env.HOME, 'pid'), 'utf8')), 'SIGHUP');
    service.advance(60_000);
    const { stdout, exitCode } = await sync.ended;
    expect({ stdout, exitCode }).toEqual({
      stdout: expect.stringMatching(/^state +succeeded with 1 warning$/m),
      exitCode: 0,
    });
  });

  // NODE_OPTIONS halts the lookup; the single executable ignores it.
  it.skipIf(COMMAND.length === 1)('ends a DNS lookup at SIGTERM (only with Node)', async () => {
    const home = freshHome();
    const halted = haltedLookups(path.join(home.HOME, 'pipe'));
    const env = withHook({ ...home, IMGCTL_TOKEN: 'T' }, halted);
    const list = startProgram(['images', 'list', '--base-url', 'https://images.example'], { env });
    await list.waitFor('stderr', 'looking up');
    list.child.kill('SIGTERM');
    expect((await list.ended).stderr).toMatch(/^looking up\nimgctl: .+\n$/);
    expect(list.child.signalCode).toBe('SIGTERM');
  });

  it('demo ends with the image of the uploaded package and leaves no files', async () => {
    const env = {
      ...freshHome(),
      TMPDIR: freshHome().HOME,
      IMGCTL_OUTPUT: 'json',
      // Else compiled code is stored, as for every command.
      NODE_DISABLE_COMPILE_CACHE: '1',
    };
    const { stdout, exitCode } = await runProgram(['demo'], { env });
    expect(exitCode).toBe(0);
    const last = stdout.slice(stdout.lastIndexOf('$ imgctl push'));
    expect(last).toMatch(/^\d+ +sample\.ova /m);
    expect(last).toContain('# Now try it yourself: imgctl emulator --uploads uploads --sample\n');
    expect(readdirSync(env.HOME)).toEqual([]);
    expect(readdirSync(env.TMPDIR)).toEqual([]);
  });

  it('demo exits 130 and leaves no files when interrupted', async () => {
    const env = { ...freshHome(), TMPDIR: freshHome().HOME };
    const demo = startProgram(['demo'], { env });
    await demo.waitFor('stderr', 'PENDING');
    demo.child.kill('SIGINT');
    const { stderr, exitCode } = await demo.ended;
    expect(exitCode).toBe(130);
    expect(stderr).toMatch(/\nimgctl: demo interrupted; nothing was left behind\n$/);
    expect(stderr).not.toContain('hint:');
    expect(readdirSync(env.TMPDIR)).toEqual([]);
  });
});
