#!/usr/bin/env bash
# Installs what Tegula needs on Debian 12, as root or through sudo. A second call finds everything there and takes well under a second.
#   ./setup.sh            install what is missing
#   ./setup.sh --check    only say what is missing; exit code 1 if something is
set -euo pipefail

packages=(
  # LLVM and MLIR 22.1, from the security archive
  llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools clang-22 lld-22 clang-format-22 libclang-rt-22-dev
  # building
  cmake ninja-build ccache g++ git ca-certificates xz-utils
  # libraries that LLVM's CMake files look for
  libzstd-dev zlib1g-dev libxml2-dev libedit-dev libffi-dev libcurl4-openssl-dev
  # the runtime, tests and benchmarks
  nlohmann-json3-dev libxxhash-dev libdlpack-dev libgtest-dev libbenchmark-dev python3 python3-numpy python3-psutil
)

missing=()
installed=$(dpkg-query -W -f='${binary:Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null | sed -n 's/^\([^: ]*\)[: ].*installed$/\1/p' || true)
for package in "${packages[@]}"; do
  grep -qx -- "$package" <<<"$installed" || missing+=("$package")
done

if [ "${1:-}" = --check ]; then
  [ ${#missing[@]} = 0 ] && { echo "every package is installed"; exit 0; }
  echo "missing: ${missing[*]}"
  exit 1
fi

if [ ${#missing[@]} != 0 ]; then
  echo "installing: ${missing[*]}"
  as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "error: installing packages takes root; run ./setup.sh as root, or install sudo" >&2; exit 1; }
    as_root=(sudo)
  fi
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  export DEBIAN_FRONTEND=noninteractive
  ${as_root[@]+"${as_root[@]}"} apt-get update -q
  if ! apt-cache show llvm-22-dev >/dev/null 2>&1; then
    if [ "$codename" != bookworm ]; then
      echo "error: no package llvm-22-dev in the apt sources; expected Debian 12 (bookworm), but got '${codename:-unknown}'" >&2
      exit 1
    fi
    # LLVM 22 came to Debian 12 with the security archive, which a bare installation may lack.
    echo "adding Debian's security archive, where llvm-22 lives: /etc/apt/sources.list.d/tegula-security.list"
    mirror=$(grep -rhoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null | head -n 1 | tr -d ' ')
    mirror=${mirror:-http://deb.debian.org/debian}
    echo "deb ${mirror%/}-security bookworm-security main" | ${as_root[@]+"${as_root[@]}"} tee /etc/apt/sources.list.d/tegula-security.list >/dev/null
    ${as_root[@]+"${as_root[@]}"} apt-get update -q
  fi
  ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
fi

ptxas=$(command -v ptxas || ls "${CUDA_HOME:-/nonexistent}"/bin/ptxas /usr/local/cuda/bin/ptxas 2>/dev/null | head -n 1 || true)
if [ -n "$ptxas" ]; then
  echo "CUDA toolkit: $("$ptxas" --version | sed -n 's/.*release \([0-9.]*\).*/ptxas \1/p') ($ptxas)"
else
  cat <<'END'
CUDA toolkit: ptxas was not found on the PATH, in $CUDA_HOME/bin or in /usr/local/cuda/bin. It is not a Debian package; NVIDIA ships it.
  Without it: `tegula compile --emit=cubin` ends with exit code 4, and tests that assemble PTX are skipped.
  All the same: PTX is emitted, the CPU target runs, and on a machine with a GPU the driver assembles the PTX.
END
fi
if ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then
  echo "GPU driver: found"
else
  echo "GPU driver: none (libcuda.so.1); kernels run on the CPU target, GPU tests are skipped"
fi
