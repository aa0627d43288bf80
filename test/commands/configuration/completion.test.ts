// completion: the script of each shell. __complete: what shells are offered, and silence if there is nothing to offer.

import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Image } from '../../../src/api/types.ts';
import { argumentTerm, longFlag, type OptionDeclaration } from '../../../src/cli/command-types.ts';
import { ALL_GLOBAL_OPTIONS } from '../../../src/cli/global-options.ts';
import { suggestValue } from '../../../src/cli/suggestions.ts';
import { cataloguePage, testImage } from '../../support/catalogue-page.ts';
import { leavesOf } from '../../support/commands.ts';
import { failed, runCli, temporaryDirectory } from '../../support/io.ts';
import { unixOnly } from '../../support/platform.ts';
import { type Environment, localUser, scriptedUser } from '../../support/users.ts';

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish', 'powershell'])(
    'prints the script of %s, which help installs',
    async (shell) => {
      const file = path.resolve(import.meta.dirname, '../../../completions', `imgctl.${shell}`);
      const expected = { stdout: readFileSync(file, 'utf8'), stderr: '', exitCode: 0 };
      expect(await runCli(['completion', shell])).toEqual(expected);
      expect(await runCli(['completion', shell.toUpperCase()])).toEqual(expected);
      const { stdout } = await runCli(['completion', '--help']);
      expect(stdout).toMatch(new RegExp(`^ {2}\\$ .*imgctl completion ${shell}.* >>? `, 'm'));
    },
  );

  it.each([
    ['bsh', 'did you mean bash? '],
    ['constructor', ''],
    ['', ''],
  ])('rejects the shell %j', async (text, suggestion) => {
    const hint = `hint: ${suggestion}valid: bash, zsh, fish, powershell\n`;
    expect(await runCli(['completion', text])).toEqual(failed(2, hint));
  });

  it('rejects a line without a shell', async () => {
    const problem = "missing required argument 'shell'\nhint: use: imgctl completion <shell>\n";
    expect(await runCli(['completion'])).toEqual(failed(2, problem));
  });
});

/** The lines that the program prints for a command line that ends in its last word; the very last is the mode. */
async function linesFor(line: string, env: Environment = {}, cwd?: string): Promise<string[]> {
  const argv = ['__complete', '--', ...line.split(' ')];
  const result = await runCli(argv, { env, ...(cwd === undefined ? {} : { cwd }) });
  expect(result).toMatchObject({ stderr: '', exitCode: 0 });
  return result.stdout.split('\n').slice(0, -1);
}

/** What is offered for this line, without descriptions: the shell selects what fits. */
async function offers(line: string, env?: Environment, cwd?: string) {
  return (await linesFor(line, env, cwd)).slice(0, -1).map((offer) => offer.split('\t')[0]);
}

/** A user of a service with these images; `imgctl` runs lines that succeed. */
async function userOf(...given: readonly (string | null | Partial<Image>)[]) {
  const images = given.map((each, index): Image => {
    const changes = typeof each === 'string' ? { name: each } : each;
    return { ...testImage(index + 1), ...changes };
  });
  const user = await scriptedUser(({ method, url }) => {
    if (method === 'PATCH') return { json: { request: { id: 41, status: 'PENDING' } } };
    const [, id] = /\/v2\/image\/(\d+)$/.exec(url.pathname) ?? [];
    return { json: id ? images[Number(id) - 1] : cataloguePage(url, images) };
  });
  const imgctl = async (...lines: string[]) => {
    for (const line of lines) expect(await user.imgctl(line)).toMatchObject({ exitCode: 0 });
  };
  return { ...user, imgctl, ask: (line: string) => offers(line, user.env) };
}

describe('__complete offers', () => {
  it('images that were listed or shown, without contacting the service', async () => {
    const { server, imgctl, ask, env } = await userOf('b-1.ova', 'a', 'b-1.ova');
    expect(await ask('images get ')).toEqual([]);
    await imgctl('images get 2');
    expect(await ask('images get ')).toEqual(['a']);
    await imgctl('images list', 'images list -n 1', 'images list --page 1 --per-page 1');
    expect(await ask('images get ')).toEqual(['b-1.ova', 'a']);
    expect(await ask(`--base-url ${env.IMGCTL_BASE_URL}/ images get `)).toHaveLength(2);
    expect(await ask('images get --profile=staging ')).toEqual([]);
    expect(await ask('--base-url https://images.example.com images get ')).toEqual([]);
    expect(server.requests).toHaveLength(4);
  });

  it('no image that another profile listed', async () => {
    const { server } = await userOf('a.ova');
    const base = server.baseUrl;
    const settings = (username: string, url = base) => ({ 'base-url': url, username });
    const profiles = { a: settings('ann'), b: settings('bob'), c: settings('ann', `${base}/c`) };
    const { imgctl, env } = localUser({ profiles });
    await imgctl('images list --profile a', { env: { IMGCTL_TOKEN: 'T' } });
    const offered = ['a', 'b', 'c'].map((each) => offers(`--profile ${each} images get `, env));
    expect(await Promise.all(offered)).toEqual([['a.ova'], [], []]);
  });

  it('no name that a shell would interpret, that looks different, or that is read as an option', async () => {
    const hostile = [...' \t\n\0\u001b"\'`$\\;|&<>(){}[]*?!#~^\u202e\u200b'].map(
      (each) => `a${each}b`,
    );
    const { imgctl, ask } = await userOf(...hostile, '-dash', 'a_b.c/d+e:f,g=h%i-j', 'goodé');
    await imgctl('images list');
    expect(await ask('images get ')).toEqual(['goodé', 'a_b.c/d+e:f,g=h%i-j']);
    expect(await ask('images get -- ')).toEqual(['goodé', 'a_b.c/d+e:f,g=h%i-j', '-dash']);
  });

  it('folders of the images that were listed, and cursors that were used, once each', async () => {
    const folders = ['Linux Server', 'BSD', 'BSD', null];
    const { imgctl, ask } = await userOf(...folders.map((folder) => ({ folder })));
    expect(await ask('images changes --cursor ')).toEqual([]);
    const again = 'images changes one --cursor mail';
    await imgctl('images list', 'images changes --cursor mail', again, 'images changes');
    expect(await ask('images list -f folder,eq,')).toEqual(['folder,eq,BSD']);
    expect(await ask('images list -f folder,in,a,b,')).toEqual(['folder,in,a,b,BSD']);
    expect(await ask('images list -f folder=')).toEqual(['folder=BSD']);
    expect(await ask('my-images --filter=folder,ne,')).toEqual(['--filter=folder,ne,BSD']);
    expect(await ask('images list -f name,eq,')).toEqual([]);
    expect(await ask('images changes --cursor ')).toEqual(['default', 'mail']);
  });

  it('the names of cursors in order, and of no other files beside them', async () => {
    const IMGCTL_CONFIG_DIR = temporaryDirectory();
    const folder = path.join(IMGCTL_CONFIG_DIR, 'changes');
    mkdirSync(folder);
    const digest = '0123456789abcdef';
    const cursors = ['m', 'z', 'a', 'q', 'c'].map((name) => `${name}.${digest}.json`);
    const others = [`x.${digest}.json.lock`, `.y.${digest}.json`, 'w.json', `v.${digest}0.json`];
    for (const name of [...cursors, ...others]) writeFileSync(path.join(folder, name), '');
    const offered = await offers('images changes --cursor ', { IMGCTL_CONFIG_DIR });
    expect(offered).toEqual(['a', 'c', 'm', 'q', 'z']);
  });

  unixOnly('modes are Unix')(
    'the names in the lock file as typed, and none if it is damaged',
    async () => {
      const cwd = temporaryDirectory();
      const file = path.join(cwd, 'images.lock.json');
      expect(await offers('images lock check ', {}, cwd)).toEqual([]);
      const of = (...names: string[]) => {
        const texts = { name: null, path: null, created_on: null, updated_on: null };
        const image = { text: [], filters: [], id: 1, ...texts };
        const images = Object.fromEntries(names.map((name) => [name, image]));
        return JSON.stringify({ version: 1, images });
      };
      writeFileSync(file, of('db', 'web'), { mode: 0o644 });
      writeFileSync(path.join(cwd, 'ci.json'), of('ci'));
      expect(await offers('images lock check ', {}, cwd)).toEqual(['db', 'web']);
      expect(await offers('images get --lock ', {}, cwd)).toEqual(['db', 'web']);
      expect(await offers('images get --file ci.json --lock ', {}, cwd)).toEqual(['ci']);
      expect(await offers('images lock remove --file=ci.json ', {}, cwd)).toEqual(['ci']);
      expect(await offers('images get --file ~/ci.json --lock ', { HOME: cwd })).toEqual(['ci']);
      expect(statSync(file).mode & 0o777).toBe(0o644);
      writeFileSync(file, '{"images":');
      expect(await offers('images lock remove ', {}, cwd)).toEqual([]);
    },
  );

  it('sync requests newest first with their status, and profiles', async () => {
    const { imgctl, env } = await userOf();
    const entry = { profile: 'default', base_url: env.IMGCTL_BASE_URL, status: null };
    const time = '2024-01-01T00:00:00Z';
    const dated = { ...entry, submitted_on: time, checked_on: time };
    const requests = [7, 'x-8', 9].map((id) => ({ ...dated, id }));
    Object.assign(requests[2] ?? {}, { base_url: 'https://images.example.com' });
    const file = path.join(env.IMGCTL_CONFIG_DIR, 'sync-history.json');
    writeFileSync(file, JSON.stringify({ requests }));
    await imgctl('sync');
    expect(await linesFor('sync-status ', env)).toEqual([
      '41\twaiting',
      'x-8\twaiting',
      '7\twaiting',
      ':space',
    ]);
    for (const name of ['staging', 'prod']) await imgctl(`config set time iso --profile ${name}`);
    for (const line of ['--profile ', 'profile use ']) {
      // Also if the one in use is invalid.
      for (const IMGCTL_PROFILE of ['', 'a/b']) {
        const offered = await offers(line, { ...env, IMGCTL_PROFILE });
        expect(offered).toEqual(['default', 'staging', 'prod']);
      }
    }
  });

  it('each option once, and only repeatable ones again', async () => {
    const found = await offers('images list --limit 5 -f id,eq,1 -q -');
    expect(found.filter((flag) => flag === '--help')).toHaveLength(1);
    expect((await offers('login -')).filter((flag) => flag === '--base-url')).toHaveLength(1);
    expect(found).toEqual(expect.arrayContaining(['--filter', '--sort', '--version']));
    for (const flag of ['-f', '-h', '--limit', '--quiet']) expect(found).not.toContain(flag);
    expect(await offers('images list -f')).toContain('-f');
    expect(await offers('images latest --get ')).toContain('path');
    for (const [typed, isOffered] of [
      ['', true],
      ['id,', false],
    ] as const)
      expect((await offers(`images list -c ${typed}`)).includes(`${typed}all`)).toBe(isOffered);
    expect(await offers('images list --sort ')).toContain('name:version,');
    expect(await linesFor('profile ')).toContain('list\tlist profiles');
    const topics = [
      'options\toptions of every command',
      'filters\tfilters, search words and sorting of images',
      'choosing\tchoosing, locking and watching images',
      'output\toutput formats, columns and timestamps',
      'environment\tenvironment variables and sources of the password',
      'fleet\tone token for many machines',
      'exit-codes\texit codes and the format of errors',
    ];
    expect(await linesFor('help ')).toEqual(expect.arrayContaining(topics));
  });

  it.each([
    ['--color a', 'auto always never'],
    ['-q -o ', 'table json ndjson yaml csv tsv'],
    ['--profile staging profile ', 'list use delete'],
    ['images list -s name,', 'name,asc name,desc'],
    ['my-images -f id,', 'id,eq, id,ne, id,lt, id,le, id,gt, id,ge, id,like, id,in, id,notlike,'],
    ['images list --limit ', ''],
    ['images list -c all,', ''],
    ['config set auth-scheme ', 'bearer basic'],
    ['config set time iso ', ''],
    ['config set allow-http ', 'true false'],
    ['images list --time ', 'raw iso local age'],
    ['help config p', 'list get set unset path'],
    ['help images ', 'list ls get latest changes snapshot lock'],
    ['-- im', ''],
    ['images constructor ', ''],
  ])('for %j: %s', async (line, expected) => {
    expect(await offers(line)).toEqual(expected.split(' ').filter(Boolean));
  });

  it('no column that was chosen', async () => {
    const offered = await offers('images list -c id,');
    expect(offered).toContain('id,name');
    expect(offered).not.toContain('id,id');
  });

  type Offering = Pick<OptionDeclaration, 'suggest' | 'value'>;

  it('what completion.txt lists for each option and argument', async () => {
    const offered = ([name, { suggest, value }]: readonly [string, Offering]) => {
      const { mode, candidates } = suggestValue(value, '');
      const words = candidates.map(([word]) => word).join(' ');
      const what = suggest
        ? `(${suggest.name})`
        : mode === 'space'
          ? words
          : `${mode} ${words}`.trim();
      return what && `  ${name}: ${what}\n`;
    };
    const own = leavesOf().map(([line, { options = [], arguments: args = [] }]) => {
      const named = args.map((each) => [argumentTerm(each), each] as const);
      const rows = [...named, ...options.map((each) => [longFlag(each), each] as const)];
      return [line, rows.map(offered).join('')] as const;
    });
    const globals = ALL_GLOBAL_OPTIONS.map((each) => [longFlag(each), each] as const);
    const all = [['imgctl', globals.map(offered).join('')] as const, ...own];
    const text = all.filter(([, rows]) => rows).map(([line, rows]) => `${line}\n${rows}`);
    await expect(text.join('\n')).toMatchFileSnapshot('completion.txt');
  });

  it.each([
    ['images list -f na', 'nospace'],
    ['images list --columns id,', 'nospace'],
    ['images list --from ', 'files'],
    ['config set ca-file ', 'files'],
    ['push a', 'packages'],
    ['validate ', 'packages'],
    ['inspect one.ova ', 'packages'],
    ['emulator --uploads=a', 'folders'],
    ['push a.ova --to ', 'folders'],
    ['images ', 'space'],
  ])('the mode for %j: %s', async (line, mode) => {
    expect((await linesFor(line)).at(-1)).toBe(`:${mode}`);
  });
});

describe('__complete prints no error', () => {
  it.each(['', '-- nope ', 'constructor -- constructor '])('for %j', async (line) => {
    const argv = ['__complete', ...line.split(' ').filter((_, index) => line !== '' || index)];
    expect(await runCli(argv)).toMatchObject({ stderr: '', exitCode: 0 });
  });

  it.each([
    ['sync-status ', { HOME: '/dev/null/missing' }],
    ['--base-url nope images get ', {}],
    ['--profile ../x images get ', {}],
    ['images get ', { IMGCTL_OUTPUT: 'nope' }],
  ])('for %j with the environment %j', async (line, env) => {
    expect(await offers(line, env)).toEqual([]);
  });

  it('and the subcommands, if the name of the profile is invalid', async () => {
    expect(await offers('images ', { IMGCTL_PROFILE: 'a/b' })).toHaveLength(7);
  });

  it.each([
    ['config.json', '--profile ', 0],
    ['config.json', 'images get ', 0],
    ['sync-history.json', 'sync-status ', 0],
    ['config.json', 'images ', 7],
  ])('if %s is unreadable, for %j', async (name, line, count) => {
    const { directory, env } = localUser();
    writeFileSync(path.join(directory, name), '{"profiles": 1');
    const found = await offers(line, { ...env, IMGCTL_BASE_URL: 'http://127.0.0.1:9' });
    expect(found).toHaveLength(count);
  });

  it('and is in no help and no suggestion', async () => {
    expect((await runCli(['--help'])).stdout).not.toContain('__complete');
    expect((await runCli(['__complet'])).stderr).not.toContain('__complete');
  });
});
