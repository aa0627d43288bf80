#!/usr/bin/env bash
# Builds build/imgctl_<version>_<architecture>.deb from the executable of this machine. Needs dpkg-deb.
# DEBFULLNAME and DEBEMAIL set the maintainer.
set -euo pipefail
umask 022
cd "$(dirname "$0")/.."
version=$(node -p 'require("./package.json").version')
architecture=$(dpkg --print-architecture)
built=build/imgctl-linux-$(node -p process.arch)
root=build/deb

rm -rf "$root"
mkdir -p "$root"/{DEBIAN,usr/share/{man/man1,doc/imgctl}}
install -D --mode=755 "$built/imgctl" "$root/usr/bin/imgctl"
put() { install -D --mode=644 "$1" "$root/usr/share/$2"; }
put completions/imgctl.bash bash-completion/completions/imgctl
put completions/imgctl.zsh zsh/vendor-completions/_imgctl
put completions/imgctl.fish fish/vendor_completions.d/imgctl.fish
gzip -9nc "$built/imgctl.1" >"$root/usr/share/man/man1/imgctl.1.gz"
gzip -9nc CHANGELOG.md >"$root/usr/share/doc/imgctl/changelog.gz"
cat LICENSE THIRD-PARTY-LICENSES.txt "$built/NODE-LICENSE.txt" >"$root/usr/share/doc/imgctl/copyright"

# The libraries are the ones that Node 24 needs.
cat >"$root/DEBIAN/control" <<CONTROL
Package: imgctl
Version: $version
Architecture: $architecture
Maintainer: ${DEBFULLNAME:-The imgctl authors} <${DEBEMAIL:-imgctl@packages.invalid}>
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Depends: libc6 (>= 2.28), libgcc-s1 (>= 3.4), libstdc++6 (>= 5.2)
Section: net
Priority: optional
Description: Command-line tool for services that deploy OVA and OVF images
 Lists and filters OVA and OVF images, uploads packages and syncs them.
 .
 It contains its own Node.js.
CONTROL
dpkg-deb --root-owner-group -Zxz --build "$root" "build/imgctl_${version}_$architecture.deb"
rm -r "$root"
