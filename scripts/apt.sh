# Functions around apt for the scripts beside this one, which read this file.

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() {
  say "$@"
  exit 1
}

# as_root runs a command as root: directly, or through sudo.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# need installs those of the packages that are not there. The lists of apt are
# fetched only where it knows no candidate of a package, or cannot fetch the one
# that it knows.
need() {
  local package missing=()
  for package in "$@"; do
    installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null ||
    die "there is no apt-get here; install by hand what these Debian packages hold: ${missing[*]}"
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
    die "this needs root and there is no sudo; as root, run: apt-get install --no-install-recommends ${missing[*]}"
  say "installing ${missing[*]}"
  install_packages "${missing[@]}" 2>/dev/null && return 0
  as_root apt-get -qq update
  install_packages "${missing[@]}"
}

install_packages() {
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y --no-install-recommends install "$@" >/dev/null
}
