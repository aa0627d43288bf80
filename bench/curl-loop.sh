#!/bin/bash
# What people write without imgctl: follows next_url and prints one JSON line per image.
# Reads IMGCTL_BASE_URL and IMGCTL_TOKEN. With the argument "tight" it runs one jq per page in a pipe instead of two.
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
