// Which pages a page refers its reader to.

import type { CommandPage, TopicPage } from './pages.ts';

/** Pages of the tree and of topics, in the order in which they are listed. */
export interface Manual {
  /** The root first. */
  readonly commands: readonly CommandPage[];
  readonly topics: readonly TopicPage[];
}

/** The root, the group with its other members, what is below, and what the text or an example names. */
export function relativesOf(page: CommandPage, { commands, topics }: Manual) {
  const group = page.words.slice(0, -1);
  const named = withoutTopics(page.prose, topics);
  const isNear = (other: CommandPage): boolean =>
    other.words.length === 1 ||
    (group.length > 1 && startsWith(other.words, group)) ||
    page.subcommands.includes(other) ||
    (other.subcommands.length === 0 && isNamed(other.words, named));
  return {
    commands: commands.filter((other) => other !== page && isNear(other)),
    topics: topics.filter(({ name }) => isNamed(['imgctl', 'help', name], page.prose)),
  };
}

/** The root, and what the text or an example names. */
export function relativesOfTopic(topic: TopicPage, manual: Manual): readonly CommandPage[] {
  const { commands, topics } = manual;
  const named = withoutTopics(topic.prose, topics);
  return commands.filter(
    ({ words, subcommands }) =>
      words.length === 1 || (subcommands.length === 0 && isNamed(words, named)),
  );
}

/** A reference to a topic is none to `imgctl help`. */
function withoutTopics(prose: string, topics: readonly TopicPage[]): string {
  return topics.reduce((text, { name }) => text.replaceAll(`imgctl help ${name}`, ''), prose);
}

function startsWith(words: readonly string[], start: readonly string[]): boolean {
  return start.every((word, index) => words[index] === word);
}

function isNamed(words: readonly string[], text: string): boolean {
  return new RegExp(`\\b${words.join(' ')}(?![\\w-])`).test(text);
}
