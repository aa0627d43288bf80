// Runs every example of the help on listing against the emulator.

import { describe, expect, it } from 'vitest';
import { FILTERS, OUTPUT } from '../../src/commands/help/pages.ts';
import { renderBlocks } from '../../src/commands/help-text.ts';
import { runCli } from '../support/io.ts';
import { emulatorUser, PASSWORD } from '../support/users.ts';

const FILTERS_HELP = renderBlocks(FILTERS, 80);
const OUTPUT_HELP = renderBlocks(OUTPUT, 80);

/** The lines that begin with a prompt, without it and without what they are piped into. */
function examplesIn(text: string): string[] {
  return [...text.matchAll(/^ {2}\$ imgctl ([^|\n]+)/gm)].map((match) => (match[1] ?? '').trim());
}

/** The arguments as a shell would take them: single quotes, nothing else. */
function argumentsOf(line: string): string[] {
  return line.match(/(?:'[^']*'|[^\s'])+/g)?.map((word) => word.replaceAll("'", '')) ?? [];
}

it.each([
  ['filters', FILTERS_HELP],
  ['output', OUTPUT_HELP],
])('help %s > prints the page', async (topic, text) => {
  expect(await runCli(['help', topic])).toEqual({ stdout: text, stderr: '', exitCode: 0 });
  expect(examplesIn(text).length).toBeGreaterThan(8);
});

it.each(['images list', 'my-images'])('%s --help has two examples or more', async (command) => {
  const { stdout } = await runCli(['help', ...command.split(' ')]);
  expect(examplesIn(stdout).length).toBeGreaterThan(1);
});

describe('examples of help topics', () => {
  it.each([...new Set([...examplesIn(FILTERS_HELP), ...examplesIn(OUTPUT_HELP)])])(
    'imgctl %s runs',
    async (line) => {
      const { imgctl } = await emulatorUser({ images: 250 });
      const { stdout, stderr, exitCode } = await imgctl(argumentsOf(line), { env: PASSWORD });
      expect(exitCode).toBe(0);
      // Nobody has images of their own there, and the catalogue ends before the last 30 days.
      if (/my-images|,-30d/.test(line)) expect(stderr).toMatch(/^imgctl: no images/);
      else expect({ stdout, stderr }).toEqual({ stdout: expect.stringMatching(/./), stderr: '' });
    },
  );

  it('run in images list --help too', async () => {
    const { imgctl } = await emulatorUser({ images: 250 });
    const { stdout } = await runCli(['help', 'images', 'list']);
    for (const line of examplesIn(stdout)) {
      expect(await imgctl(argumentsOf(line), { env: PASSWORD })).toMatchObject({ exitCode: 0 });
    }
  });
});
