// The recipes of docs/recipes.md are valid, and their commands work.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { serve } from '../support/emulator.ts';
import { runCli, temporaryDirectory } from '../support/io.ts';
import { writeSampleOva } from '../support/package-writer.ts';

const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/recipes.md'), 'utf8');

/** Returns the code blocks of a language. */
function blocks(language: string): string[] {
  const fences = PAGE.matchAll(/^```(\w+)\n(.*?)^```$/gms);
  return [...fences].filter((fence) => fence[1] === language).map((fence) => fence[2] ?? '');
}

const [service = '', timer = ''] = blocks('ini');
const [crontab = ''] = blocks('crontab');
const [login = ''] = blocks('sh');
const [cronJob = '', steps = ''] = blocks('yaml');

/** Returns the arguments of imgctl in a shell line, without quotes and redirections. */
function argumentsOf(line: string): string[] {
  const [, call = ''] = /\bimgctl\s+([^>]+)/.exec(line) ?? [];
  return [...call.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
}

/** Starts an emulator with the user alice and writes her password to a folder; `put` inserts both into a text. */
async function world() {
  const emulator = await serve({
    users: [{ name: 'alice', password: 'secret' }],
    uploads: temporaryDirectory(),
    syncDelay: 0,
    images: 0,
  });
  const folder = temporaryDirectory();
  writeFileSync(join(folder, 'password'), 'secret\n');
  const put = (text: string) =>
    text
      .replace('https://images.example.com', emulator.baseUrl)
      .replace('~/.imgctl-password', join(folder, 'password'))
      .replace(/%d|\/run\/secrets\/imgctl/, folder)
      .replace(/%S|\/var\/lib/, folder);
  const { baseUrl, uploadUrl } = emulator;
  return { folder, put, baseUrl, uploadUrl };
}

/** Runs the command of a recipe; waits take no time. */
function runRecipe(words: readonly string[], env: Record<string, string>, cwd = '/') {
  return runCli(words, { env: { PATH: process.env.PATH, ...env }, cwd, time: Date.now() });
}

it('docs/recipes.md names only existing variables of imgctl', async () => {
  const names = new Set(PAGE.match(/\bIMGCTL_[A-Z_]+/g));
  expect(names.size).toBeGreaterThan(3);
  const { stdout } = await runCli(['help', 'environment']);
  for (const name of names) expect(stdout).toMatch(new RegExp(`^ +${name} `, 'm'));
});

it('docs/recipes.md puts no password on a command line', () => {
  for (const line of PAGE.split('\n').filter((text) => /\bimgctl (sync|login)/.test(text))) {
    expect(line).not.toMatch(/--password(?!-command)/);
  }
});

describe('the systemd units', () => {
  const analyze = (...args: string[]) =>
    spawnSync('systemd-analyze', args, { encoding: 'utf8', timeout: 30_000 });

  it.skipIf(analyze('--version').status !== 0)(
    'pass systemd-analyze verify (skipped if it is not installed)',
    () => {
      const folder = temporaryDirectory();
      const program = process.execPath;
      const files = [
        ['imgctl-sync.service', service.replace('/usr/local/bin/imgctl', program)],
        ['imgctl-sync.timer', timer],
      ].map(([name = '', text = '']) => {
        writeFileSync(join(folder, name), text);
        return join(folder, name);
      });
      const { stdout, stderr, status } = analyze('verify', '--man=no', ...files);
      expect({ stdout, stderr, status }).toEqual({ stdout: '', stderr: '', status: 0 });
    },
  );

  it('sync with the mounted password', async () => {
    const { put } = await world();
    const lines = [...service.matchAll(/^Environment=(\w+)=(.*)$/gm)];
    const env = Object.fromEntries(lines.map(([, name, value = '']) => [name, put(value)]));
    const command = /^ExecStart=(.*)$/m.exec(service)?.[1] ?? '';
    expect(service).toMatch(/^LoadCredential=password:\//m);
    const { stdout, exitCode } = await runRecipe(argumentsOf(command), env);
    expect(stdout).toMatch(/^state +succeeded$/m);
    expect(exitCode).toBe(0);
  });
});

describe('the crontab line', () => {
  const [, line = ''] = crontab.trim().split('\n');

  it('has five time fields and no character that cron replaces', () => {
    const [minute = '', hour, day, month, weekday, ...command] = line.split(' ');
    expect(Number(minute)).toBeLessThan(60);
    expect([hour, day, month, weekday]).toEqual(['*', '*', '*', '*']);
    expect(command[0]).toBe('imgctl');
    // cron replaces % by a line break.
    expect(line).not.toContain('%');
    expect(crontab).toMatch(/^PATH=(\/[\w/]+:?)+\n/);
  });

  it('syncs after the login and prints nothing to mail', async () => {
    const { folder, put } = await world();
    const first = await runRecipe(argumentsOf(login).map(put), { HOME: folder });
    expect(first).toMatchObject({ exitCode: 0 });
    const { stderr, exitCode } = await runRecipe(argumentsOf(line), { HOME: folder });
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  });
});

describe('the CronJob', () => {
  const job = parse(cronJob);
  const { spec } = job;
  const pod = spec.jobTemplate.spec.template.spec;
  const [container] = pod.containers;

  it('neither overlaps nor repeats, and mounts its volumes', () => {
    expect(job).toMatchObject({ apiVersion: 'batch/v1', kind: 'CronJob' });
    expect(spec.schedule).toMatch(/^(\S+ ){4}\S+$/);
    expect(spec.concurrencyPolicy).toBe('Forbid');
    expect(spec.jobTemplate.spec.backoffLimit).toBe(0);
    expect(pod.restartPolicy).toBe('Never');
    const names = (list: { name: string }[]) => list.map(({ name }) => name);
    expect(names(container.volumeMounts)).toEqual(names(pod.volumes));
    expect(pod.volumes[0].secret.secretName).toBe('imgctl');
  });

  it('syncs with the mounted password', async () => {
    const { put } = await world();
    const variables: { name: string; value: string }[] = container.env;
    const env = Object.fromEntries(variables.map(({ name, value }) => [name, put(value)]));
    expect(container.command).toEqual(['imgctl']);
    const { stdout, exitCode } = await runRecipe(container.args, env);
    expect(JSON.parse(stdout)).toMatchObject({ state: 'succeeded' });
    expect(exitCode).toBe(0);
  });
});

describe('the steps of GitHub Actions', () => {
  const [check, push] = parse(steps);

  it('check the package', async () => {
    const cwd = temporaryDirectory();
    mkdirSync(join(cwd, 'dist'));
    await writeSampleOva(join(cwd, 'dist/appliance.ova'), 'appliance');
    expect((await runRecipe(argumentsOf(check.run), {}, cwd)).exitCode).toBe(0);
  });

  it('push with the injected secrets', async () => {
    const { folder, baseUrl, uploadUrl } = await world();
    const values: Record<string, string | undefined> = {
      'vars.IMGCTL_BASE_URL': baseUrl,
      'vars.IMGCTL_USERNAME': 'alice',
      'secrets.IMGCTL_PASSWORD': 'secret',
      'secrets.UPLOAD_PASSWORD': 'secret',
      'vars.UPLOAD_URL': uploadUrl,
      'vars.UPLOAD_USERNAME': 'alice',
      'runner.temp': folder,
    };
    const variables = Object.entries<string>(push.env);
    const env = Object.fromEntries(
      variables.map(([name, value]) => [
        name,
        value.replace(/\$\{\{ (.+?) \}\}/, (_, expression: string) => values[expression] ?? ''),
      ]),
    );
    mkdirSync(join(folder, 'dist'));
    await writeSampleOva(join(folder, 'dist/appliance.ova'), 'appliance');
    const lines: string[] = push.run.trim().split('\n');
    const results = [];
    for (const line of lines) {
      const words = line.replace(/"\$(\w+)"/, (_, name: string) => env[name] ?? '');
      results.push(await runRecipe(argumentsOf(words), env, folder));
    }
    expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    expect(results.at(-1)?.stdout).toContain('appliance.ova');
  });
});
