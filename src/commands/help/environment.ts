// The text of `imgctl help environment`.

export const ENVIRONMENT_HELP = `Environment: a flag beats a variable, a variable beats the profile. An empty
variable counts as unset.

  IMGCTL_PROFILE            settings and token of that name
  IMGCTL_BASE_URL           the service
  IMGCTL_USERNAME           user name for token requests
  IMGCTL_PASSWORD           the password
  IMGCTL_PASSWORD_FILE      a file whose first line is the password
  IMGCTL_PASSWORD_COMMAND   a command whose first output line is the password
  IMGCTL_TOKEN              an access token, used as it is: never cached, never
                            renewed
  IMGCTL_OUTPUT             table, json, ndjson, yaml, csv or tsv
  IMGCTL_TIMEOUT            time for each request, such as 30s
  IMGCTL_DEBUG              1 traces requests on stderr, without secrets
  IMGCTL_CONFIG_DIR         where settings, tokens and all else is kept

  XDG_CONFIG_HOME           else settings and tokens are in imgctl/ below it
                            (~/.config)
  XDG_STATE_HOME            and the history of sync requests in imgctl/ below
                            this one (~/.local/state)
  XDG_CACHE_HOME            and names of images, for completion, in imgctl/
                            below this one (~/.cache)

  HTTPS_PROXY, HTTP_PROXY   a proxy, http:// or https://user:password@host:port;
                            this machine itself is always reached directly
  NO_PROXY                  what is reached directly: hosts with all below them
                            and addresses, with a port or without; ranges of
                            addresses (10.0.0.0/8); or *
  NODE_EXTRA_CA_CERTS       further trusted certificates (see also: imgctl
                            config set ca-file); certificates are verified
                            whatever NODE_TLS_REJECT_UNAUTHORIZED says
  NO_COLOR, FORCE_COLOR     colour off, colour on

The password is looked for in this order, whenever a token is needed and none
is valid: IMGCTL_PASSWORD, IMGCTL_PASSWORD_FILE, the password command, and the
system keychain if "imgctl login --store-password" has put it there. Only
"imgctl login" asks for it on a terminal. No secret is ever taken from a flag.

Of a file or command the first line counts, without its end. The path of a file
is relative to the working directory; its modes are not looked at, as mounted
secrets have their own. A command is run by the shell, it and the program of
the keychain (secret-tool, security) for at most 30 s, and both without
IMGCTL_PASSWORD and IMGCTL_TOKEN in their environment.
`;
