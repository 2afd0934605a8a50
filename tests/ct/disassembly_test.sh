#!/usr/bin/env bash
# Secret data in the lane kernels lives in vector registers. It could decide a branch or an address only
# through an instruction that moves it to a general register, a flag or an index: there must be none.
# (A compiler may park a general register in a vector register; reading that back is allowed. The outer
# functions *_chain and *_digest also work out which steps the lanes run, which is public; moves to general
# registers are looked for in the functions that hold the rounds, which are never inlined.)
set -euo pipefail
build=${1:?usage: disassembly_test.sh BUILD_FOLDER}

checked=0
while IFS= read -r object; do
  checked=$((checked + 1))
  found=$(objdump -d --no-show-raw-insn "$object" | awk '
    />:$/ { delete parked; outer = $2 ~ /_(chain|digest)/ && $2 !~ /_step/ }
    !/^ +[0-9a-f]+:/ { next }
    {
      op = $2; operands = $3
      count = split(operands, part, ",")
      last = part[count]
      bad = op ~ /gather|scatter|conflict|compress/
      if (!outer && op ~ /movmsk|ptest|testp|kortest|ktest|comis|pcmp[ei]str|pextr/) bad = 1
      if (op ~ /^v?mov[dq]$/ && part[1] ~ /^%[xyz]mm/ && last ~ /^%[re]/ && !(part[1] in parked) && !outer) bad = 1
      if (op ~ /^v?mov[dq]$/ && last ~ /^%xmm/ && part[1] !~ /^%[xyz]mm/) parked[last] = 1
      else if (last ~ /^%[xyz]mm/) { sub(/[yz]mm/, "xmm", last); sub(/\{.*/, "", last); delete parked[last] }
      if (bad) print
    }' | head -n 5)
  if [ -n "$found" ]; then
    echo "FAILED: $object has instructions that let vector data decide something:"
    echo "$found"
    exit 1
  fi
  echo "ok: $(basename "$object")"
done < <(find "$build" -path '*hash/lanes/*' \( -name '*avx512*.o' -o -name '*avx2*.o' -o -name '*sha_ni*.o' \))
if [ "$checked" -eq 0 ]; then
  echo "FAILED: no kernel objects under $build"
  exit 1
fi
echo "$checked kernel objects without a way from vector data to branches or addresses"
