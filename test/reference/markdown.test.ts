// docs/cli.md: every command with what it takes, links that lead somewhere, and text that shows as written.

import { describe, expect, it } from 'vitest';
import { commandReference } from '../../src/reference/markdown.ts';
import { manualOf, ownManual, smallTree } from './tree.ts';

describe('a small tree', () => {
  const page = commandReference(manualOf(smallTree()));
  const [, list = ''] = page.split('\n## imgctl list\n');

  it('has a section for each command that help shows', () => {
    expect(page).toContain('| [imgctl list](#imgctl-list) | list \\*all\\* of it |');
    expect(page).not.toContain('secret');
  });

  it('shows usage, arguments, options and examples', () => {
    expect(list).toContain(
      '```text\nimgctl list [options] [word...]\nimgctl ls [options] [word...]\n```',
    );
    expect(list).toContain("| `word` | a user's word |");
    expect(list).toContain('\n\nMore of it: imgctl drop.\n\n');
    expect(list).toContain('\n\nSee also: [imgctl drop](#imgctl-drop)\n');
    expect(list).toContain("```sh\nimgctl list 'it''s' | tee out\n```");
  });

  it('escapes what would be markup', () => {
    expect(list).toContain('.dot first, back\\\\slash and \\<tag>.');
    expect(list).toContain('| `-a, --all <a\\|b>` | one of a\\|b_c\\_ |');
  });
});

it('every link leads to a heading', async () => {
  const page = commandReference(await ownManual());
  const anchors = [...page.matchAll(/^## (.+)$/gm)].map(([, title = '']) =>
    title.toLowerCase().replaceAll(' ', '-'),
  );
  const targets = [...page.matchAll(/\]\(#([^)]+)\)/g)].map((match) => match[1]);
  expect(targets.length).toBeGreaterThan(40);
  expect(targets.filter((target) => !anchors.includes(target ?? ''))).toEqual([]);
  expect(new Set(anchors).size).toBe(anchors.length);
});
