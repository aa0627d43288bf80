// The text of `imgctl help environment`.

export const ENVIRONMENT_HELP = `Environment: a flag beats a variable, a variable beats the profile. An empty
variable counts as unset.

  IMGCTL_PROFILE            the profile: its settings and token
  IMGCTL_BASE_URL           the URL of the service
  IMGCTL_USERNAME           user name for token requests
  IMGCTL_PASSWORD           the password
  IMGCTL_PASSWORD_FILE      a file whose first line is the password
  IMGCTL_PASSWORD_COMMAND   a command whose first output line is the password
  IMGCTL_TOKEN              an access token, used as it is: never cached, never
                            renewed
  IMGCTL_OUTPUT             table, json, ndjson, yaml, csv or tsv
  IMGCTL_TIMEOUT            time limit per request, such as 30s
  IMGCTL_DEBUG              1 traces requests on stderr, without secrets
  IMGCTL_CONFIG_DIR         one directory for settings, tokens, history and
                            cache

  XDG_CONFIG_HOME           settings and tokens are in imgctl/ below it
                            (~/.config)
  XDG_STATE_HOME            the history of sync requests is in imgctl/ below it
                            (~/.local/state)
  XDG_CACHE_HOME            image names for completion are in imgctl/ below it
                            (~/.cache)

  HTTPS_PROXY, HTTP_PROXY   a proxy, http:// or https://user:password@host:port;
                            never used for this machine itself
  NO_PROXY                  hosts to reach directly: host names with their
                            subdomains, addresses and address ranges
                            (10.0.0.0/8), with or without a port; or * for all
  NODE_EXTRA_CA_CERTS       a file of additional trusted certificates (see
                            also: imgctl config set ca-file); certificates are
                            verified even with NODE_TLS_REJECT_UNAUTHORIZED=0
  NO_COLOR, FORCE_COLOR     turn colour off or on

When imgctl needs a password for a new token, it tries in this order:
IMGCTL_PASSWORD, IMGCTL_PASSWORD_FILE, the password command, and the system
keychain (after "imgctl login --store-password"). Only "imgctl login" prompts
for it. No flag takes a secret.

The first line of a file or command output is the password. A relative path
starts at the working directory. The mode of the file is not checked, as
mounted secrets have their own. The shell runs the command. The command and the
keychain program (secret-tool, security) may take 30 s and do not see
IMGCTL_PASSWORD and IMGCTL_TOKEN.
`;
