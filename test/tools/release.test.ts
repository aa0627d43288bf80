// tools/release.mjs: which tags can be released, and the notes of a release.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/io.ts';

const TOOL = path.resolve(import.meta.dirname, '../../tools/release.mjs');
const NOTES = '- `push`: faster\n\n### Changed\n\n- exit 5 is now 6';
const OLDER = '## 1.0.0, 2025-01-31\n\nFirst version.\n';

/** Runs the tool in a folder with version 1.1.0 and a changelog that starts with this section. */
function release(tag: string, heading = '1.1.0, 2025-07-31', notes = NOTES, repository = 'a/b') {
  const cwd = temporaryDirectory();
  writeFileSync(path.join(cwd, 'package.json'), JSON.stringify({ version: '1.1.0', repository }));
  const text = `# Changelog\n\nRules.\n\n## ${heading}\n\n${notes}\n\n${OLDER}`;
  writeFileSync(path.join(cwd, 'CHANGELOG.md'), text);
  const { status, stdout, stderr } = spawnSync(process.execPath, [TOOL, tag], { cwd });
  return { status, stdout: String(stdout), stderr: String(stderr) };
}

describe('tools/release.mjs', () => {
  it('prints the first section of the changelog for the tag of the version', () => {
    expect(release('v1.1.0')).toEqual({ status: 0, stdout: `${NOTES}\n`, stderr: '' });
  });

  const HEADING = 'the first heading of CHANGELOG.md is "';
  it.each<[string, string, Parameters<typeof release>]>([
    ['another tag', 'the tag "v1.1.1" is not v1.1.0, ', ['v1.1.1']],
    ['a tag without v', 'the tag "1.1.0" is not v1.1.0, ', ['1.1.0']],
    ['no tag', 'the tag "" is not v1.1.0, ', ['']],
    ['an undated heading', `${HEADING}1.1.0, not`, ['v1.1.0', '1.1.0, not released yet']],
    ['the heading of another version', `${HEADING}1.0.9, `, ['v1.1.0', '1.0.9, 2025-07-31']],
    ['an empty section', 'the first section of CHANGELOG.md is ', ['v1.1.0', undefined, '']],
    ['no repository', 'package.json has no repo', ['v1.1.0', undefined, undefined, '']],
  ])('refuses %s', (_what, text, args) => {
    const { status, stdout, stderr } = release(...args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^.+\n$/);
    expect(stderr).toContain(text);
  });
});
