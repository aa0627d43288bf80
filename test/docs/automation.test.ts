// The recipes of docs/automation.md, run against the emulator.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runCli, temporaryDirectory } from '../support/io.ts';
import { valuesOf } from '../support/metrics.ts';
import { folderUser, writeOva } from '../support/uploads.ts';
import { emulatorUser, PASSWORD } from '../support/users.ts';

const PAGE = readFileSync(path.resolve(import.meta.dirname, '../../docs/automation.md'), 'utf8');

/** Returns the code blocks of a language. */
function blocks(language: string): string[] {
  const fences = [...PAGE.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  return fences.filter((fence) => fence[1] === language).map((fence) => fence[2] ?? '');
}

/** Returns a list of texts from a block of HCL. */
function listIn(hcl: string, name: string): string[] {
  const [, list = '[]'] = new RegExp(`\\b${name} *= *(\\[.*?\\])`, 's').exec(hcl) ?? [];
  return JSON.parse(list.replace(/,\s*\]/, ']'));
}

async function user() {
  const { env, imgctl } = await emulatorUser({
    images: 250,
    syncDelay: 0,
    uploads: temporaryDirectory(),
  });
  return { env: { ...env, ...PASSWORD }, imgctl };
}

const [terraform = '', packer = ''] = blocks('hcl');
const [workflow = '', rules = ''] = blocks('yaml');

it('docs/automation.md shows shell lines that work', async () => {
  const { env } = await user();
  const lines = blocks('sh').flatMap((block) => block.trim().split('\n'));
  expect(lines.length).toBeGreaterThan(2);
  for (const line of lines) {
    const [command = ''] = line.replace(/^imgctl /, '').split(' | ');
    expect(await runCli(command.split(' '), { env })).toMatchObject({ exitCode: 0 });
  }
});

it('docs/automation.md names only metrics that a sync writes', async () => {
  const { env } = await user();
  const file = path.join(temporaryDirectory(), 'imgctl.prom');
  await runCli(['sync', '--wait', '--metrics-file', file], { env, time: Date.now() });
  const known = Object.keys(valuesOf(readFileSync(file, 'utf8')));
  const named = new Set(PAGE.match(/imgctl_sync_\w+/g));
  expect([...named].sort()).toEqual(known.sort());
});

it('the Terraform data source prints one JSON object of strings', async () => {
  const { env } = await user();
  const [, ...argv] = listIn(terraform, 'program');
  const { stdout, exitCode } = await runCli(argv, { env, stdin: '{}' });
  expect(exitCode).toBe(0);
  const result: Record<string, unknown> = JSON.parse(stdout);
  expect(Object.values(result).map((value) => typeof value)).toEqual(['string', 'string']);
  expect(terraform).toContain('data.external.image.result.path');
});

it('the Packer post-processor pushes each build, and replaces the last one', async () => {
  const { work, stored, syncs, env } = await folderUser();
  mkdirSync(path.join(work, 'output'));
  const file = path.join(work, 'output/appliance.ova');
  const inline = listIn(packer, 'inline');
  expect(inline).toHaveLength(1);
  const [, ...argv] = inline.flatMap((line) => line.split(' '));
  for (const seed of ['first', 'second']) {
    renameSync(writeOva(work, 'appliance', 1_000, seed), file);
    const result = await runCli(argv, {
      env: { ...env, ...PASSWORD },
      cwd: work,
      time: Date.now(),
    });
    expect(result).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('appliance.ova') });
  }
  expect({ stored: stored(), syncs: syncs() }).toEqual({ stored: ['appliance.ova'], syncs: 2 });
});

it('the workflow of GitHub Actions checks the images that the line above it locks', async () => {
  const { env } = await user();
  const cwd = temporaryDirectory();
  const steps: { run?: string }[] = parse(workflow).jobs.check.steps;
  const [, lock = ''] = /`imgctl (images lock add [^`]+)`/.exec(PAGE) ?? [];
  for (const line of [lock, ...steps.flatMap(({ run }) => run?.replace('imgctl ', '') ?? [])]) {
    const result = await runCli(line.split(' '), { env, cwd });
    expect(result).toMatchObject({ exitCode: 0 });
  }
});

describe('the alert', () => {
  it('uses a metric that exists', () => {
    const [{ expr }] = parse(rules).groups[0].rules;
    expect(expr).toContain('imgctl_sync_last_success_timestamp_seconds');
  });

  const promtool = (...args: string[]) => spawnSync('promtool', args, { encoding: 'utf8' });

  it.skipIf(promtool('--version').status !== 0)('passes promtool (skipped if missing)', () => {
    const file = path.join(temporaryDirectory(), 'rules.yml');
    writeFileSync(file, rules);
    const { status, stderr } = promtool('check', 'rules', file);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

it('the configuration of an MCP client starts the server', async () => {
  const { env } = await user();
  const [config = ''] = blocks('json');
  const { command, args } = JSON.parse(config).mcpServers.imgctl;
  expect(command).toBe('imgctl');
  const stdin = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';
  expect(await runCli(args, { env, stdin })).toMatchObject({
    stdout: expect.stringContaining('"id":1'),
    exitCode: 0,
  });
});
