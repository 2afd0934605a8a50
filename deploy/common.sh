# Shared by deploy/quickstart and deploy/check: packages, cores, mpirun, messages. Sourced, not run.
# shellcheck shell=bash

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '\n== %s\n' "$*"; }
die() {
  printf '%s: %s\n' "$(basename -- "$0")" "$1" >&2
  exit "${2:-1}"
}

# packages_of SECTION...: the lines of these sections of deploy/packages.txt.
packages_of() {
  local wanted=" $* "
  awk -v wanted="$wanted" '
    /^# \[[a-z]+\]/ { name = $2; gsub(/[][]/, "", name); take = index(wanted, " " name " ") > 0; next }
    /^#/ || NF == 0 { next }
    take            { print $1 }' "$root/deploy/packages.txt"
}

# Runs a command as root: directly, or through sudo without a question when there is no terminal.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif [ -t 0 ]; then
    sudo -- "$@"
  else
    sudo -n -- "$@"
  fi
}

# ensure_packages SECTION...: installs what is missing and nothing else.
ensure_packages() {
  local package state missing=()
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is not a Debian system, so packages are not checked. Needed are the likes of:"
    packages_of "$@" | paste -sd' ' | fold -s -w 100
    return 0
  fi
  while read -r package; do
    # shellcheck disable=SC2016  # dpkg-query expands it
    state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing+=("$package")
  done < <(packages_of "$@")
  if [ ${#missing[@]} -eq 0 ]; then
    echo "All packages are there."
    return 0
  fi
  echo "Missing: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    die "these packages need root or sudo to install. As root, run:
  apt-get update && apt-get install --no-install-recommends ${missing[*]}
and start again." 77
  fi
  as_root apt-get -q update </dev/null ||
    echo "apt-get update failed; trying with the package lists of before." >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 install \
    --no-install-recommends "${missing[@]}" </dev/null ||
    die "apt-get could not install: ${missing[*]} (Coppice is made for Debian 12; see deploy/packages.txt)" 69
}

# Physical cores that this process may use: mpirun counts cores, not hardware threads.
usable_cores() {
  local allowed cores
  allowed=$(nproc)
  cores=$(lscpu -p=core,socket 2>/dev/null | grep -v '^#' | sort -u | wc -l) || cores=$allowed
  [ "$cores" -gt 0 ] || cores=$allowed
  echo $((cores < allowed ? cores : allowed))
}

# mpirun_here RANKS COMMAND...: ranks on this host. Without binding the ranks share all cores, and each
# takes its part of them for threads. ob1 over shared memory is enough on one host and starts fastest.
mpirun_here() {
  local launcher ranks=$1 flags=(--bind-to none --mca pml ob1 --mca btl "self,vader")
  shift
  # Containers forbid process_vm_readv, and Open MPI would complain about it.
  local settings=(OMPI_MCA_btl_vader_single_copy_mechanism=none)
  if [ "$(id -u)" -eq 0 ]; then
    settings+=(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
  fi
  if [ "$(usable_cores)" -lt "$ranks" ]; then flags+=(--oversubscribe); fi
  launcher=$(command -v mpirun.openmpi || command -v mpirun) || die "mpirun of Open MPI is missing" 78
  env "${settings[@]}" "$launcher" -n "$ranks" "${flags[@]}" "$@" </dev/null
}
