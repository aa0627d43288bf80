// The text of `imgctl help exit-codes`.

export const EXIT_CODES_HELP = `Exit codes:

    0  done; an empty list too
    1  the operation failed: a server error, a sync that failed, an answer
       that cannot be understood, an invalid package
    2  usage or configuration
    3  network: unreachable, TLS, timed out
    4  not logged in, wrong credentials, not permitted
    5  not found (and with --fail-empty: nothing matched)
    6  rate limited, with the time at which that ends
    7  still waiting at the limit
  130  interrupted (Ctrl-C)
  143  told to end (SIGTERM)

A reader that closes early (imgctl images list | head -1) is no error.

Errors are on stderr, never on stdout:

  imgctl: <what happened>
  hint: <the command or setting that helps>

With -o json or ndjson each is one JSON object a line instead:

  {"error": {"code", "message", "hint", "status", "exitCode"}}
`;
