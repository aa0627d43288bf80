// The command line itself: global options, suggestions, and which words errors repeat.

import { describe, expect, it } from 'vitest';
import { catalogueOf, testImage } from '../support/catalogue-page.ts';
import { failed, fakeIo, runCli } from '../support/io.ts';
import { localUser, scriptedUser } from '../support/users.ts';

/** Runs a line that is a usage error. */
const rejected = async (line: string | readonly string[], message: string | RegExp) => {
  const result = await localUser().imgctl(line);
  expect(result).toEqual(failed(2, message));
  expect(result.stderr).not.toContain('hunter2');
};

const TWICE =
  '--json and --output yaml cannot be used together\nhint: omit --json or --output yaml';
const BOTH = '--get and --columns cannot be used together\nhint: omit --get or --columns\n';
const TOO_LONG = 'a'.repeat(65);

describe('global options', () => {
  it.each([
    '--json whoami',
    '-o json whoami',
    'config list --profile ../x --json',
    'config --json list --profile ../x',
  ])('are accepted before and after the command: %s', async (line) => {
    const { stderr, exitCode } = await localUser().imgctl(line);
    expect(exitCode).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({ error: { exitCode: 2 } });
  });

  it.each([
    ['whoami --json -o yaml', TWICE],
    ['--json whoami --output yaml', TWICE],
    ['images list --get id -c name', BOTH],
    ['config get foo', "unknown setting 'foo'\nhint: see: imgctl config list --all\n"],
    ['whoami -o jsonn', 'did you mean json?'],
    ['whoami --timeout soon', '500ms, 30s, 5m, 1h, 2d or 3w'],
    ['whoami --retries many', 'a whole number from 0 to 100'],
    ['whoami --color pink', 'hint: '],
    ['whoami --profile ../../x', 'a letter or digit'],
    ["whoami --profile ''", '--profile must not be empty\nhint: provide a value, or omit it\n'],
    ["sync --wait-timeout ''", '--wait-timeout must not be empty\nhint: use a duration such as '],
    ["images list --from ''", '--from must not be empty'],
    ["api -X POST ''", 'the path must not be empty'],
    [`whoami --profile ${TOO_LONG}`, 'up to 63'],
    ['whoami --base-url ftp://example.com', 'https://'],
    ['whoami --base-url http://example.com', 'https://example.com'],
  ])('reject %s with a hint', async (line, hint) => {
    await rejected(`IMGCTL_BASE_URL=http://127.0.0.1:9 ${line}`, hint);
  });
});

it.each(['login --password=it\\s\nhunter2', 'login --password=a=hunter2'])(
  'a usage error repeats no value that may be a secret: %j',
  async (line) => {
    await rejected(line.split(' '), "imgctl: unknown option '--password'\nhint: ");
  },
);

describe('fields after --json', () => {
  it('are arguments of a command that prints none', async () => {
    const { stderr } = await localUser().imgctl('profile use --json public');
    expect(stderr).toContain("unknown profile 'public'");
  });

  it('are words after --', async () => {
    const { imgctl } = await scriptedUser(catalogueOf([]));
    const expected = { stdout: '', stderr: '', exitCode: 0 };
    expect(await imgctl('images list -q -- --json web')).toEqual(expected);
  });
});

it.each([
  ['local time', 'images list -n 1', /2018-07-19 12:00/],
  ['no time', 'config path', /config\.json/],
])(
  'a time zone that is unknown is a warning after %s, if it was used',
  async (_what, line, shown) => {
    const { env } = await scriptedUser(catalogueOf([testImage(1)]));
    const io = { ...fakeIo({ env, time: 0, columns: 80 }), unknownZone: 'IST-5:30' };
    const { stdout, stderr } = await runCli(line.split(' '), io);
    expect(stdout).toMatch(shown);
    const warning = "imgctl: warning: unknown time zone in TZ: 'IST-5:30'; local times are UTC\n";
    const hint = 'hint: set TZ to a name such as Europe/Berlin\n';
    expect(stderr).toBe(line.startsWith('images') ? `1 image\n${warning}${hint}` : '');
  },
);
