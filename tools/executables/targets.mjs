// The platforms of single executables, and the exact versions and digests of their parts.

export const NODE_VERSION = '24.21.0';

/** Platforms, named as in the npm packages of Node. */
export const TARGETS = {
  'linux-x64': {
    integrity:
      'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
    debian: 'amd64',
  },
  'linux-arm64': {
    integrity:
      'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
    debian: 'arm64',
  },
  'win-x64': {
    integrity:
      'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
  },
};

/** Injects the program into a Node: Node 24 cannot (node --build-sea exists since Node 25.5). */
export const POSTJECT = {
  name: 'postject',
  version: '1.0.0-alpha.6',
  integrity:
    'sha512-b9Eb8h2eVqNE8edvKdwqkrY6O7kAwmI8kcnBv1NScolYJbo59XUF0noFq+lxbC1yN20bmC0WBEbDC5H/7ASb0A==',
};
