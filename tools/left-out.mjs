// A rolldown plugin that replaces modules that libraries import but imgctl never uses.

const NOTHING = 'module.exports = {};';

/** The library, the module that it imports, and the CommonJS code that it gets instead. */
const LEFT_OUT = [
  // spinner.ts gives ora its frames and a stream; ora would patch process.stdout, and hide the cursor.
  ['ora', 'node:process', 'module.exports = { env: {} };'],
  ['ora', 'string-width', 'module.exports = (text) => text.length;'],
  ...[
    'chalk',
    'cli-cursor',
    'cli-spinners',
    'is-interactive',
    'is-unicode-supported',
    'log-symbols',
    'stdin-discarder',
  ].map((name) => ['ora', name, NOTHING]),
];

const PREFIX = '\0left-out:';

export function leaveOut() {
  const unseen = new Set(LEFT_OUT.keys());
  return {
    name: 'leave-out',
    resolveId(source, importer = '') {
      const path = importer.replaceAll('\\', '/');
      const index = LEFT_OUT.findIndex(
        ([library, request]) => request === source && path.includes(`/node_modules/${library}/`),
      );
      if (index < 0) return undefined;
      unseen.delete(index);
      return `${PREFIX}${index}`;
    },
    load(id) {
      return id.startsWith(PREFIX) ? LEFT_OUT[id.slice(PREFIX.length)][2] : undefined;
    },
    buildEnd(error) {
      // If a library imports a module by another name, the bundle would silently contain it.
      const names = [...unseen].map((index) => LEFT_OUT[index].slice(0, 2).join(' '));
      if (!error && names.length > 0) this.error(`no library imports: ${names.join(', ')}`);
    },
  };
}
