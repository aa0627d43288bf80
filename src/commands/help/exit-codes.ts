// The text of `imgctl help exit-codes`.

export const EXIT_CODES_HELP = `Exit codes:

    0  success, even if a list is empty
    1  the operation failed: a server error, a failed sync, an unreadable
       response, an invalid package
    2  usage or configuration
    3  network: unreachable, TLS, timed out
    4  not logged in, wrong credentials, not permitted
    5  not found (with --fail-empty: nothing matched)
    6  rate limited; the message says until when
    7  still waiting at the time limit
  130  interrupted (Ctrl-C)
  143  terminated (SIGTERM)

A pipe that closes early (imgctl images list | head -1) is not an error.

Errors go to stderr, never to stdout:

  imgctl: <what happened>
  hint: <the command or setting that helps>

With -o json or ndjson each error is one JSON object per line instead:

  {"error": {"code", "message", "hint", "status", "exitCode"}}
`;
