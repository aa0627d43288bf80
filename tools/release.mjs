// Checks that a tag can be released, and prints its section of CHANGELOG.md, the notes of the release.
// Usage: node tools/release.mjs v0.1.0   (in the folder with package.json and CHANGELOG.md)

import { readFileSync } from 'node:fs';

const [tag = ''] = process.argv.slice(2);
const { version, repository } = JSON.parse(readFileSync('package.json', 'utf8'));
const [, section = ''] = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m);
const [heading = '', ...lines] = section.split('\n');
const notes = lines.join('\n').trim();
const [released, date = ''] = heading.split(', ');

const problems = [
  tag !== `v${version}` && `the tag "${tag}" is not v${version}, the version in package.json`,
  !(released === version && /^\d{4}-\d\d-\d\d$/.test(date)) &&
    `the first heading of CHANGELOG.md is "${heading}", not "${version}, YYYY-MM-DD"`,
  notes === '' && 'the first section of CHANGELOG.md is empty',
  !repository && 'package.json has no repository, which npm publish --provenance needs',
].filter(Boolean);
if (problems.length === 0) process.stdout.write(`${notes}\n`);
else {
  process.stderr.write(problems.map((problem) => `${problem}\n`).join(''));
  process.exitCode = 1;
}
