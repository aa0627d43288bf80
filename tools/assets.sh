#!/usr/bin/env bash
# Adds the Homebrew formula and SHA256SUMS to the packages in build/. Usage: tools/assets.sh URL   (of their folder)
set -euo pipefail
cd "$(dirname "$0")/../build"
package=$(echo imgctl-*.tgz)
sum=$(sha256sum "$package" | cut -d ' ' -f 1)
sed "s|@URL@|$1/$package|; s|@SHA256@|$sum|" ../packaging/imgctl.rb >imgctl.rb
sha256sum ./*.tar.gz ./*.tgz ./*.deb ./*.rb | sed 's|\./||' | tee SHA256SUMS
