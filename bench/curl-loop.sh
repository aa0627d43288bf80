#!/bin/bash
# What people write without imgctl: every image, one JSON line each, by following next_url. Takes IMGCTL_BASE_URL and IMGCTL_TOKEN.
set -euo pipefail
url="$IMGCTL_BASE_URL/v2/image?per_page=100&expand=1&sort=id,asc"
while [ "$url" != null ]; do
  page=$(curl --silent --show-error --fail -H "Authorization: Bearer $IMGCTL_TOKEN" "$url" |
    jq -rc '.data[], .meta.pages.next_url')
  url=${page##*$'\n'}
  printf '%s\n' "${page%$'\n'*}"
done
