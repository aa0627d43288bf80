// Completion in real shells: what is offered, and that names are never more than text.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cataloguePage, testImage } from '../support/catalogue-page.ts';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';
import { INSERT_ALL, LIST, Machine, missingFor, SHELLS, type Shell } from './completion-harness.ts';

/**
 * What is typed after `imgctl `, and what the shell offers for the last word: the lines that a shell splits or ends in
 * its own way. test/commands/completion.test.ts has the values of every option and argument.
 */
const OFFERS: readonly (readonly [string, readonly string[]])[] = [
  ['images l', ['latest', 'list', 'lock', 'ls']],
  ['images ls --no', ['--no-header', '--no-trunc']],
  ['--profile ', ['default', 'staging']],
  ['--profile=st', ['--profile=staging']],
  ['--base-url=http://x --json images li', ['list']],
  ['-o y', ['yaml']],
  ['images list --output=t', ['--output=table', '--output=tsv']],
  ['images list --columns id,name,p', ['id,name,path', 'id,name,public']],
  ['images list --filter na', ['name,']],
  ['images list -f name,l', ['name,le,', 'name,like,', 'name,lt,']],
  ['images list -f folder,eq,', ['folder,eq,linux']],
  ['my-images --filter=folder,ne,l', ['--filter=folder,ne,linux']],
  ['config set ca-file disk', ['disk one.ova']],
  ['push ', ['disk one.ova', 'uploads', 'web.OVF']],
  ['validate up', ['uploads']],
  ['emulator --uploads upl', ['uploads']],
  ['help fil', ['filters']],
  ['sync-status ', ['1000', '998', '999']],
  ['images get -- -', ['-dash']],
  ['images list -- --o', []],
  ['images list ', []],
  ['nope l', []],
];

const TYPED = OFFERS.map(([line]) => `imgctl ${line}`);

function expectOffers(offers: readonly (readonly string[])[]): void {
  // Some shells show folders with a slash.
  const found = offers.map((words) => words.map((word) => word.replace(/\/$/, '')).toSorted());
  expect(OFFERS.map(([line], index) => [line, found[index]])).toEqual(OFFERS);
}

/** Names that a shell would interpret; none is offered. */
const HOSTILE = [
  'a $(touch x)`touch x`',
  'b;touch x|touch x&<>',
  'c it\'s "quoted"',
  'd\nline\u001b[31mred\u009b31m',
  'e@*?[a]{b,c}#~^\\!',
  '$(touch x)',
  'right\u202eleft',
];

/** Names that can stand as they are. */
const PLAIN = ['f:colon=ü', 'path/to+it%20,x', 'zplain_1.2-3.ova'];

const NAMES = [...HOSTILE, ...PLAIN, '-dash'];

let server: ScriptedServer;
let machine: Machine;

beforeAll(async () => {
  const ids = [998, 999, 1000];
  const images = NAMES.map((name, index) => ({ ...testImage(index + 1), name }));
  server = await startScriptedServer(({ url, method }) =>
    method === 'PATCH'
      ? { status: 202, json: { request: { id: ids.shift(), status: 'PENDING' } } }
      : { json: cataloguePage(url, images) },
  );
  machine = new Machine({ IMGCTL_BASE_URL: server.baseUrl, IMGCTL_TOKEN: 'T' });
  for (const name of ['disk one.ova', 'web.OVF', 'notes.txt']) {
    writeFileSync(path.join(machine.folder, name), '');
  }
  mkdirSync(path.join(machine.folder, 'uploads'));
  for (const profile of ['default', 'staging']) {
    await machine.run('config', 'set', 'time', 'iso', '--profile', profile);
  }
  await machine.run('images', 'list');
  for (let count = 0; count < 3; count += 1) await machine.run('sync');
});

afterAll(async () => {
  await server.close();
  machine.remove();
});

describe.concurrent.each(SHELLS)('%s', (shell) => {
  const missing = missingFor(shell);

  it.skipIf(missing)(
    `offers what fits without contacting the service${reason(missing)}`,
    async () => {
      const before = server.requests.length;
      expectOffers(
        shell === 'fish' ? await machine.offersOfFish(TYPED) : await allOf(shell, TYPED),
      );
      expect(server.requests.length).toBe(before);
    },
  );

  it.skipIf(missing)(`completes plain names only${reason(missing)}`, async () => {
    const keys = [...PLAIN.map((name) => name.charAt(0)), 'f:co', 'f:colon=', 'a', 'e'];
    const lines = keys.map((key) => `imgctl images get ${key}\t`);
    const { words } = await machine.type(shell, lines);
    const [first = ''] = PLAIN;
    const found = [...PLAIN, first, first, 'a', 'e'];
    expect(words).toEqual(found.map((name) => ['imgctl', 'images', 'get', name]));
    expect(existsSync(path.join(machine.folder, 'x'))).toBe(false);
  });

  it.skipIf(missing)(
    `lists syncs by age, options once and names escaped${reason(missing)}`,
    async () => {
      const syncs = await machine.type(shell, [`imgctl sync-status ${LIST}`]);
      const places = ['1000', '999', '998'].map((id) => syncs.terminal.indexOf(id));
      expect(places).toEqual(places.toSorted((left, right) => left - right));
      expect(places).not.toContain(-1);
      const options = await machine.type(shell, [`imgctl sync -${LIST}`]);
      expect(options.terminal.match(/--dry-run\b/g)).toHaveLength(1);
      expect(options.terminal).not.toMatch(/\s-h\b/);
      const names = await machine.type(shell, [`imgctl images get ${LIST}`]);
      expect(names.terminal).toContain('zplain');
      expect(names.terminal).not.toMatch(/line\u001b|\u009b|\u202e/);
    },
  );
});

const MISSING_BASH = missingFor('bash');

it.skipIf(MISSING_BASH)(`bash completes between quotes${reason(MISSING_BASH)}`, async () => {
  const typed = ['"z', "'z", '"f', "'f:c", '"f:colon='];
  const lines = typed.map((word) => `imgctl images get ${word}\t`);
  const { words } = await machine.type('bash', lines);
  const [colon, , plain] = PLAIN;
  expect(words.map(([, , , name]) => name)).toEqual([plain, plain, colon, colon, colon]);
});

/** For the title of a skipped test. */
function reason(missing: string | undefined): string {
  return missing === undefined ? '' : ` (${missing})`;
}

/** All words that a shell would put in the place of the last one, for each line. */
async function allOf(shell: Shell, lines: readonly string[]): Promise<readonly string[][]> {
  const { words } = await machine.type(
    shell,
    lines.map((line) => `${line}${INSERT_ALL}`),
  );
  return lines.map((line, index) => {
    const typed = line.split(' ');
    const last = typed.at(-1) ?? '';
    const found = (words[index] ?? []).slice(typed.length - 1);
    if (found.length === 1 && found[0] === last) return [];
    // Bash completes only the part after a = or :.
    const lead = shell === 'bash' ? (/^.*[=:]/.exec(last)?.[0] ?? '') : '';
    return found.map((word, place) => (place === 0 ? word : `${lead}${word}`));
  });
}
