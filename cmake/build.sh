# Sourced by run and check. tegula_build PRESET TARGET...: configures when the build tree is older than the presets, then builds, on as many cores as memory
# allows (a compiler process takes up to 1.5 GB). Quiet: the log is shown when something fails.
tegula_build() {
  local preset=$1 cores memory log
  shift
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ { print int($2 / 1500000) }' /proc/meminfo)
  [ "$memory" -lt 1 ] && memory=1
  [ "$cores" -gt "$memory" ] && cores=$memory
  mkdir -p "build/$preset"
  log=build/$preset/build.log
  echo "building build/$preset: $* (log: $log)"
  if ! { { [ "build/$preset/build.ninja" -nt CMakePresets.json ] || cmake --preset "$preset"; } && cmake --build "build/$preset" -j "$cores" --target "$@"; } >"$log" 2>&1; then
    grep -nE '(error|FAILED|Error at)' "$log" | head -n 20 >&2
    tail -n 40 "$log" >&2
    echo "error: the build failed; the whole log is in $log" >&2
    return 1
  fi
}
