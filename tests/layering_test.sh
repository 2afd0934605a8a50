#!/bin/bash
# What the layout of the project promises and a compiler does not check: who includes what, who writes files,
# where vector instructions may stand, how files begin and how long they are.
# usage: layering_test.sh SOURCE-DIR [BUILD-DIR]
set -u
shopt -s lastpipe  # so that refuse() runs in this shell and its verdict stays
cd "$1" || exit 2
build=${2:-}
bad=0

# refuse TITLE: prints the lines of stdin, if any, as violations of TITLE.
refuse() {
  local lines
  lines=$(cat)
  if [ -n "$lines" ]; then
    echo "FAILED: $1"
    printf '%s\n' "$lines" | sed 's/^/  /'
    bad=1
  fi
}

mapfile -t folders < <(for d in core node cluster proto; do [ -d $d ] && echo $d; done)
sources() { find "$@" -type f \( -name '*.cpp' -o -name '*.hpp' -o -name '*.inl' \) 2>/dev/null; }
# search PATTERN FOLDER...: file:line:text of the code that matches. Comments do not count.
search() {
  local pattern=$1
  shift
  sources "$@" | xargs -r -d '\n' grep -HnE -- "$pattern" | grep -vE '^[^:]+:[0-9]+:[[:space:]]*//'
}

# One way: core <- node <- cluster; only cluster sees proto.
search '#include "(node|cluster|proto|tests)/' core | refuse 'core includes nothing of node, cluster, proto or tests'
search '#include "(cluster|proto|tests)/|\.pb\.h"' node | refuse 'node includes nothing of cluster, proto or tests'
search '\.pb\.h"|google/protobuf' core node | refuse 'Protobuf is seen by cluster alone'
search '#include "tests/' cluster | refuse 'cluster includes nothing of tests'

# Libraries in their places.
search '\bMPI_|<mpi\.h>' core node cluster | grep -v '^cluster/mpi/' | refuse 'MPI only in cluster/mpi'
search '#pragma omp|<omp\.h>' core cluster | refuse 'OpenMP only in node'
search '<sqlite3\.h>|<hwloc' core cluster | refuse 'SQLite and hwloc only in node'
search '<openssl/' "${folders[@]}" | grep -vE '^(core/(sys|encode)|cluster/service)/' |
  refuse 'OpenSSL only in core/sys, core/encode and the TLS of cluster/service'
search '<boost/asio|<boost/beast' core node | refuse 'Asio and Beast only in cluster'
sources "${folders[@]}" | xargs -r -d '\n' grep -lE '<boost/(asio|beast)' | xargs -r -d '\n' grep -l '<mpi\.h>' |
  refuse 'Asio and mpi.h never meet in one file'
search '<(x86|imm|nmm|emm|wmm|avx[a-z0-9]*)intrin\.h>|<cpuid\.h>|<arm_neon\.h>|<sys/auxv\.h>' "${folders[@]}" |
  grep -vE '^core/hash/(dispatch\.cpp|lanes/)|^core/lemur/' | refuse 'intrinsics only in lanes, CPU detection only in dispatch.cpp'

# Files are written by the atomic writer and by SQLite. Exceptions, each with its reason:
#   cluster/cli/*: none today
writers='node/(atomic_file|state_ledger|sqlite_db|checkpoint)\.cpp'
search 'std::(basic_)?o?fstream|\bfopen(64)?[[:space:]]*\(|\b(O_WRONLY|O_RDWR|O_CREAT)\b|\bcreat[[:space:]]*\(|\bmkstemp' \
  "${folders[@]}" | grep -vE "^$writers:" | refuse 'only the listed files open files for writing'

# Build files.
find . -path ./build -prune -o \( -name CMakeLists.txt -o -name '*.cmake' -o -name 'CMakePresets.json' \) -print |
  xargs -r -d '\n' grep -HnE 'march=native|mtune=native|mcpu=native' | refuse 'no build for the machine at hand'

# Every file begins with a line of purpose; none is long.
mapfile -t all < <(sources "${folders[@]}" tests)
for f in "${all[@]}"; do
  head -n 1 "$f" | grep -qE '^// .{10,}' || echo "$f"
done | refuse 'a source file begins with one line of purpose (// ...)'
for f in "${all[@]}"; do
  lines=$(wc -l <"$f")
  [ "$lines" -le 500 ] || echo "$f: $lines lines"
done | refuse 'a source file has at most 500 lines'

# Vector instructions in the objects: AVX2 and AVX-512 only in the units compiled for them, and no symbol of
# those units that the linker could give to the rest of the program in place of a plain one.
check_objects() {
  local objects object registers
  mapfile -t objects < <(find "$build" -type f -name '*.o' -path '*CMakeFiles/coppice*.dir/*' \
    ! -path '*/coppice_*_tests.dir/*' ! -path '*/coppice_kat.dir/*')
  if [ "${#objects[@]}" -eq 0 ]; then
    echo "no objects in $build"
    return
  fi
  for object in "${objects[@]}"; do
    case $object in
      */lanes/*_avx512*) continue ;;
      */lanes/*_avx2*) registers='%zmm' ;;
      *) registers='%[yz]mm' ;;
    esac
    if objdump -d --no-show-raw-insn "$object" | grep -qE "$registers"; then
      echo "${object#"$build"/}: uses $registers"
    fi
  done
  for object in "${objects[@]}"; do
    case $object in
      */lanes/*_avx2*|*/lanes/*_avx512*|*/lanes/*_shani*|*/lanes/*_sha2*)
        nm -C --defined-only "$object" | grep -E ' [WVu] ' | grep -vE 'asan|ubsan|tsan|sancov|DW\.ref' |
          sed "s|^|$(basename "$object"): weak: |"
        ;;
    esac
  done
}
if [ -z "$build" ]; then
  echo 'skipped: vector instructions in objects (no build folder was given)'
elif [ "$(uname -m)" != x86_64 ] || ! command -v objdump >/dev/null; then
  echo "skipped: vector instructions in objects ($(uname -m), or no objdump)"
elif grep -qs 'CMAKE_SYSTEM_PROCESSOR:.*=aarch64' "$build/CMakeCache.txt"; then
  echo 'skipped: vector instructions in objects (built for aarch64)'
else
  check_objects | refuse 'AVX instructions stay in the units compiled for them'
fi

[ $bad -eq 0 ] && echo "layering holds in ${#all[@]} source files"
exit $bad
