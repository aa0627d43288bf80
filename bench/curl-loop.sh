#!/bin/bash
# What people write without imgctl: every image, one JSON line each, by following next_url.
# Takes IMGCTL_BASE_URL and IMGCTL_TOKEN; with the argument "tight", one jq a page in a pipe instead of two.
set -euo pipefail
fetch() {
  curl --silent --show-error --fail -H "Authorization: Bearer $IMGCTL_TOKEN" "$1"
}
url="$IMGCTL_BASE_URL/v2/image?per_page=100&expand=1&sort=id,asc"
while [ "$url" != null ]; do
  if [ "${1:-}" = tight ]; then
    page=$(fetch "$url" | jq -rc '.data[], .meta.pages.next_url')
    url=${page##*$'\n'}
    printf '%s\n' "${page%$'\n'*}"
  else
    page=$(fetch "$url")
    jq -c '.data[]' <<<"$page"
    url=$(jq -r .meta.pages.next_url <<<"$page")
  fi
done
