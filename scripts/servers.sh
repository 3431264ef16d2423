#!/usr/bin/env bash
# Brings the server builds of the experiments and tests onto a Debian 12 machine,
# and writes .servers/machine.hcl, which declares them.
#
#   scripts/servers.sh [BUILD...]
#
#   mariadb1011   MariaDB 10.11 of the running release, with MyRocks beside it
#   mariadb118    MariaDB 11.8 with MyRocks, unpacked from trixie
#   mysql97       MySQL 9.7, unpacked from sid
#   mariadb105    MariaDB 10.5 with MyRocks, unpacked from bullseye
#   pg15, pg17    PostgreSQL, unpacked from bookworm and trixie
#   all           all of these, as without names
#
# A build that is there already is left alone.
# No server becomes a service of this machine: from the running release only
# packages without services are installed, all else is unpacked into .servers/.
set -eu
cd "$(dirname "$0")/.."
. scripts/apt.sh

top=$PWD/.servers

# Where root runs dbmatrix, servers run as the user mysql. A checkout that this
# user cannot reach, such as one in root's home, is no place for its files: then
# .servers is a link to here, and data directories lie here too.
elsewhere=/var/lib/dbmatrix

# Builds of other suites must not spoil those of the running release, so what
# cannot be had is collected here and told at the end.
left_out=()

# unpacked reports whether a folder of .servers holds a whole build. The file is
# written last.
unpacked() { [ -e "$top/$1/.unpacked" ]; }

# mirror prints the address that serves the running release, by apt's own words:
# the first entry of the sources may be one that serves something else.
mirror() {
  (
    . /etc/os-release
    apt-get indextargets --format '$(SITE) $(RELEASE) $(CODENAME) $(COMPONENT) $(CREATED_BY)' |
      awk -v release="$VERSION_CODENAME" \
        '($2 == release || $3 == release) && $(NF-1) == "main" && $NF == "Packages" { print $1; exit }'
  )
}

# fetch SUITE DIR PACKAGE... unpacks packages of a suite with all that they
# depend on, down to the C library, into a folder. apt does it with a state of
# its own: signatures are checked, and the packages of this machine stay as they
# are.
fetch() {
  local suite=$1 dir=$2 site state deb
  shift 2
  site=$(mirror)
  [ -n "$site" ] || { say "apt names no mirror of the running release"; return 1; }
  state=$work/$suite
  mkdir -p "$state/lists/partial" "$state/archives/partial"
  : >"$state/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site $suite main" >"$state/sources.list"
  cat >"$state/apt.conf" <<CONF
Dir::State "$state";
Dir::State::status "$state/status";
Dir::State::lists "$state/lists";
Dir::Cache "$state";
Dir::Cache::archives "$state/archives";
Dir::Etc::SourceList "$state/sources.list";
Dir::Etc::SourceParts "/dev/null";
APT::Install-Recommends "false";
CONF
  say "fetching $* of $suite"
  APT_CONFIG=$state/apt.conf apt-get -qq -o Acquire::Retries=2 update || return 1
  APT_CONFIG=$state/apt.conf apt-get -qq -y --download-only install "$@" >/dev/null || return 1
  rm -rf "$dir"
  mkdir -p "$dir"
  for deb in "$state"/archives/*.deb; do
    dpkg -x "$deb" "$dir" || return 1
  done
}

# loader DIR prints the dynamic loader of an unpacked build. Suites before
# bookworm keep it, and the C library, outside usr.
loader() {
  local l
  for l in "$1"/usr/lib/*-linux-gnu/ld-linux-*.so.* "$1"/lib/*-linux-gnu/ld-linux-*.so.*; do
    [ ! -e "$l" ] || { echo "$l"; return; }
  done
  say "no dynamic loader in $1"
  return 1
}

# libraries DIR prints the library path of an unpacked build.
libraries() {
  local d path=
  for d in "$1"/usr/lib/*-linux-gnu "$1"/lib/*-linux-gnu; do
    [ ! -d "$d" ] || path=${path:+$path:}$d
  done
  echo "$path"
}

# put FILE MODE writes what it reads to a file, unless the file holds just that.
put() {
  cat >"$1.new"
  chmod "$2" "$1.new"
  if cmp -s "$1.new" "$1"; then
    rm "$1.new"
  else
    mv "$1.new" "$1"
  fi
}

# wrapper DIR PROGRAM NAME writes DIR/NAME, which starts a program of an unpacked
# build with the loader and the libraries that came with it.
wrapper() {
  local dir=$1 program=$2 name=$3 l
  l=$(loader "$dir") || return 1
  put "$dir/$name" 755 <<SCRIPT
#!/bin/sh
exec "$l" --library-path "$(libraries "$dir")" "$dir/$program" "\$@"
SCRIPT
}

# unpack NAME SUITE PROGRAM PACKAGE... unpacks a MySQL or MariaDB and writes its
# wrapper. Wrappers hold absolute paths and are made each time, since the checkout
# may have moved.
unpack() {
  local name=$1 suite=$2 program=$3 dir=$top/$1
  shift 3
  if ! unpacked "$name"; then
    fetch "$suite" "$dir" "$@" && wrapper "$dir" "usr/sbin/$program" "$program" &&
      "$dir/$program" --no-defaults --version >"$dir/.unpacked.new" &&
      mv "$dir/.unpacked.new" "$dir/.unpacked" || return 1
    say "unpacked $(cat "$dir/.unpacked")"
  fi
  wrapper "$dir" "usr/sbin/$program" "$program"
}

# unpack_pg NAME SUITE VERSION unpacks a PostgreSQL. Its programs call each other
# by path, so each is wrapped in place.
unpack_pg() {
  local name=$1 suite=$2 version=$3 dir=$top/$1 f l
  unpacked "$name" || fetch "$suite" "$dir" "postgresql-$version" || return 1
  l=$(loader "$dir") || return 1
  for f in "$dir/usr/lib/postgresql/$version"/bin/*; do
    case $f in *.bin) continue ;; esac
    if [ ! -e "$f.bin" ]; then
      [ "$(head -c 4 "$f" | tr -d '\177')" = ELF ] || continue
      mv "$f" "$f.bin"
    fi
    put "$f" 755 <<SCRIPT
#!/bin/sh
exec "$l" --library-path "$(libraries "$dir")" --argv0 "$f" "$f.bin" "\$@"
SCRIPT
  done
  unpacked "$name" || say "unpacked $("$dir/usr/lib/postgresql/$version/bin/postgres" --version)"
  : >"$dir/.unpacked"
}

# mariadb1011 installs the server of the running release, and unpacks the MyRocks
# plugin of exactly that version beside it. The plugin's package is never
# installed: it would bring a database that starts with the machine.
mariadb1011() {
  local name=mariadb-10.11 version deb dir
  need mariadb-server-core mariadb-client-core libsnappy1v5
  version=$(dpkg-query -W -f '${Version}' mariadb-server-core)
  case $version in
  *10.11.*) ;;
  *) die "this release of Debian has MariaDB $version, not 10.11; name the builds of this machine in a machine.hcl of your own" ;;
  esac
  [ "$(cat "$top/$name/.unpacked" 2>/dev/null)" != "$version" ] || return 0
  dir=$work/plugin
  mkdir "$dir"
  [ "$(id -u)" != 0 ] || chown _apt "$dir"
  (cd "$dir" && apt-get -qq download "mariadb-plugin-rocksdb=$version" >/dev/null) || {
    say "fetching the lists of apt anew"
    as_root apt-get -qq update
    (cd "$dir" && apt-get -qq download "mariadb-plugin-rocksdb=$version" >/dev/null) ||
      die "could not fetch MyRocks $version, see above: no network, or the mirror has only a newer one; then upgrade mariadb-server-core with apt and try again"
  }
  rm -rf "${top:?}/$name"
  mkdir "$top/$name"
  for deb in "$dir"/*.deb; do
    dpkg -x "$deb" "$top/$name"
  done
  echo "$version" >"$top/$name/.unpacked"
  say "unpacked MyRocks $version"
}

mariadb118() { unpack mariadb-11.8 trixie mariadbd mariadb-server-core mariadb-plugin-rocksdb; }
mariadb105() { unpack mariadb-10.5 bullseye mariadbd mariadb-server-core-10.5 mariadb-plugin-rocksdb; }
mysql97() { unpack mysql-9.7 sid mysqld mysql-server; }
pg15() { unpack_pg postgresql-15 bookworm 15; }
pg17() { unpack_pg postgresql-17 trixie 17; }

# declare_mariadb VERSION DIR prints the server blocks of an unpacked MariaDB. A
# server finds its messages, character sets and plugins from its basedir.
declare_mariadb() {
  unpacked "$2" || return 0
  cat <<HCL

server "mariadb$1" {
  mysqld  = "$at$2/mariadbd"
  basedir = "$at$2/usr"
}

server "myrocks$1" {
  mysqld  = "$at$2/mariadbd"
  basedir = "$at$2/usr"
  my_cnf  = { plugin_load_add = "ha_rocksdb" }
}
HCL
}

# machine prints the machine file of all builds that are there. Paths are
# relative to it, unless it lies behind a link.
machine() {
  local at=
  cat <<HCL
# The builds that "make servers" brought here. It writes this file anew each
# time; builds of your own belong in a machine.hcl in the folder above.
HCL
  if [ "$top" = $elsewhere/servers ]; then
    at=$top/
    printf '\ndata_dir = "%s"\n' $elsewhere/data
  fi
  if unpacked mariadb-10.11; then
    cat <<HCL

server "mariadb1011" {
  mysqld = "/usr/sbin/mariadbd"
}

server "myrocks1011" {
  mysqld = "/usr/sbin/mariadbd"
  my_cnf = {
    plugin_dir      = "$top/mariadb-10.11/usr/lib/mysql/plugin"
    plugin_load_add = "ha_rocksdb"
  }
}
HCL
  fi
  declare_mariadb 118 mariadb-11.8
  declare_mariadb 105 mariadb-10.5
  if unpacked mysql-9.7; then
    cat <<HCL

server "mysql97" {
  mysqld  = "${at}mysql-9.7/mysqld"
  basedir = "${at}mysql-9.7/usr"
}
HCL
  fi
  local version
  for version in 15 17; do
    ! unpacked postgresql-$version ||
      printf '\nserver "pg%s" {\n  bindir = "%spostgresql-%s/usr/lib/postgresql/%s/bin"\n}\n' $version "$at" $version $version
  done
}

# server_user makes the user that servers run as where dbmatrix runs as root.
server_user() {
  [ "$(id -u)" = 0 ] || return 0
  ! getent passwd mysql >/dev/null || return 0
  say "adding the system user mysql, which servers run as when dbmatrix is run by root"
  useradd --system --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin mysql
}

# place decides where the builds lie.
place() {
  if [ "$(id -u)" != 0 ] || setpriv --reuid=mysql --regid=mysql --clear-groups test -x "$PWD"; then
    return 0
  fi
  say "the user mysql cannot reach $PWD: servers and data directories go to $elsewhere"
  top=$elsewhere/servers
  mkdir -p "$top"
  [ -L .servers ] || ln -s "$top" .servers
}

builds=(mariadb1011 mariadb118 mysql97 mariadb105 pg15 pg17)
[ "${*:-all}" != all ] || set -- "${builds[@]}"
for build in "$@"; do
  case " ${builds[*]} " in
  *" $build "*) ;;
  *) die "no build is called $build; there are ${builds[*]}, and all" ;;
  esac
done

server_user
place
mkdir -p "$top"
exec 9>"$top/.lock"
if ! flock -n 9; then
  say "waiting for another one that is at work in $top"
  flock 9
fi

# The state of apt lies where apt's own unprivileged user reaches it.
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT

for build in "$@"; do
  case $build in
  mariadb1011) mariadb1011 ;;
  *) "$build" 9>&- || left_out+=("$build") ;;
  esac
done
machine | put "$top/machine.hcl" 644

if [ ${#left_out[@]} -gt 0 ]; then
  say "could not be had, see above: ${left_out[*]}; the next \"make servers\" tries again"
  say "experiments that name them validate and plan, and are refused by run; the other builds are there"
fi
