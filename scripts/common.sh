# Shared by run, test and bench: installs what is missing, configures, builds. Sourced, not run.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Packages of a list file that are not installed.
missing_packages() {
  local package
  grep -v '^#' "$1" | while read -r package; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
  done
}

# Installs the missing packages of the given lists on Debian as root; elsewhere names them and stops.
ensure_packages() {
  local list missing=()
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    # Another system: whether all is there shows when cmake looks for it; see build().
    needed=$(cat "$@" | grep -v '^#' | tr '\n' ' ')
    command -v cmake >/dev/null || name_packages
    return 0
  fi
  for list in "$@"; do
    while IFS= read -r package; do missing+=("$package"); done < <(missing_packages "$list")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    echo "isoloop: these packages are missing; install them as root, then run this again:" >&2
    echo "  apt-get install ${missing[*]}" >&2
    exit 1
  fi
  echo "isoloop: installing ${missing[*]}" >&2
  { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
      "${missing[@]}"; } >&2
}

needed=
name_packages() {
  echo "isoloop: apt-get is not here; nothing was installed. Please install what Debian calls:" >&2
  echo "  $needed" >&2
  exit 1
}

# build DIR TARGET [cmake options...]: quiet unless it fails.
build() {
  local dir=$1 target=$2 log
  shift 2
  mkdir -p "$dir"
  log=$dir/build.log
  if ! { cmake -S "$root" -B "$dir" -G Ninja "$@" && cmake --build "$dir" --target "$target"; } >"$log" 2>&1; then
    cat "$log" >&2
    [ -z "$needed" ] || name_packages
    exit 1
  fi
}
