#!/bin/sh
# Tests of coppice-kat itself: spoiled vectors must fail, unusable files must be named, counts must add up.
# usage: kat_tool_test.sh COPPICE-KAT VECTOR-FOLDER
set -u
kat=$1
vectors=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

complain() {
  echo "FAILED: $*"
  bad=1
}

# expect CODE PATTERN ARGUMENT...: exit code and a line (basic regular expression) of the output.
expect() {
  code=$1
  pattern=$2
  shift 2
  "$kat" "$@" >"$work/out" 2>&1
  got=$?
  if [ "$got" -ne "$code" ] || ! grep -q -e "$pattern" "$work/out"; then
    complain "coppice-kat $*: exit $got, wanted $code and a line '$pattern':"
    cat "$work/out"
  fi
}

# spoil FILE SED-SCRIPT CODE PATTERN: runs a changed copy of a vector file.
spoil() {
  sed "$2" "$vectors/$1" >"$work/$1"
  cmp -s "$vectors/$1" "$work/$1" && complain "'$2' changes nothing in $1"
  expect "$3" "$4" --max-height 10 "$work/$1"
}

expect 0 ': lms-trace, 4 cases passed, 0 failed$' "$vectors/lms-trace.json"
[ "$(tail -n 1 "$work/out")" = '4 passed, 0 failed' ] || complain 'the totals are not the last line'
expect 0 '^4 passed, 0 failed$' --threads 1 --kernel portable "$vectors/lms-trace.json"
expect 0 '^8 passed, 0 failed$' "$vectors/lms-trace.json" "$vectors/hss-spki.json"

# What is skipped is named, with the way to run it; nothing executed is no success.
expect 0 'kg-080 skipped: height 25 is above --max-height 5; run it with: coppice-kat --max-height 25 ' \
  --max-height 5 "$vectors/lms-keygen.json"
expect 1 '^0 passed, 0 failed$' --max-height 4 "$vectors/lms-trace.json"
expect 1 'no case was executed' --max-height 4 "$vectors/lms-trace.json"

# ACVP: either half finds the other, both count once.
prompt=$vectors/acvp-lms-keygen-prompt.json
expected=$vectors/acvp-lms-keygen-expected.json
for files in "$prompt" "$expected" "$prompt $expected" "$expected $prompt"; do
  # shellcheck disable=SC2086 # two names
  expect 0 '^9 passed, 0 failed$' $files
done
cp "$prompt" "$work/prompt.json"
expect 2 'prompt.json: the file with the expected results' "$work/prompt.json"
cp "$expected" "$work/expectedResults.json"
expect 0 '^9 passed, 0 failed$' "$work/prompt.json"
sed 's/"keyGen"/"sigGen"/' "$prompt" >"$work/prompt.json"
expect 2 "ACVP mode is 'sigGen'" "$work/prompt.json"
sed 's/, *"i": *"[^"]*"//' "$prompt" >"$work/prompt.json"
expect 2 "case tcId 1: field 'i' is missing" "$work/prompt.json"
cp "$prompt" "$work/prompt.json"
sed '0,/"publicKey": *"0/s//"publicKey": "1/' "$expected" >"$work/expectedResults.json"
expect 1 'case tcId 1 failed: public key differs at byte 0' "$work/prompt.json"
sed '0,/"tcId": *1/s//"tcId": 777/' "$expected" >"$work/expectedResults.json"
expect 2 'case tcId 1: no expected result' "$work/prompt.json"

# A digit of a node, a message, a verdict, a reason, a key, a file.
spoil lms-trace.json '0,/"63": *"02fa/s//"63": "12fa/' 1 'failed: node 63 differs at byte 0'
spoil lms-h25-w1-top-nodes.json 's/"2": *"c2ea/"2": "c3ea/' 1 'case rows failed: node 2 differs at byte 0'
spoil lms-hss-sigver.json '0,/"valid": *true/s//"valid": false/' 1 'sv-001 failed: a bad signature verifies'
spoil lms-hss-sigver.json '0,/"checker_note": *"root mismatch"/s//"checker_note": "levels"/' 1 \
  "verdict is 'root mismatch' instead of 'levels'"
spoil hss-spki.json '0,/"spki_der": *"304e/s//"spki_der": "304f/' 1 'spki-1 failed: encoded key differs'
spoil lms-keygen.json '0,/"public_key": *"0/s//"public_key": "1/' 1 'kg-001 failed: public key differs at byte 0'
spoil hash-sigs-files.json '0,/"aux": *"8/s//"aux": "9/' 1 'hs-a failed: aux differs at byte 0'
spoil hss-siggen-deterministic.json '0,/"index": *0/s//"index": 1/' 1 'sg-001 failed: SHA-256 of the signature'

# Unusable: a missing field, bad hexadecimal, another kind of file, no file.
spoil lms-keygen.json '0,/"seed"/s//"sead"/' 2 "unknown schema"
spoil lms-trace.json '0,/"chain_q0_i0_end"/s//"chain"/' 2 "case #1: field 'chain_q0_i0_end' is missing"
spoil lms-hss-sigver.json '0,/"message": *"6/s//"message": "x/' 2 "case sv-001: field 'message'.*hexadecimal"
echo '{"cases": [{"id": "a"}]}' >"$work/other.json"
expect 2 'other.json: unknown schema; known are: ' "$work/other.json"
echo 'not json' >"$work/other.json"
expect 2 'other.json: not a JSON file' "$work/other.json"
expect 2 'missing.json: cannot be read' "$work/missing.json"
expect 2 'no files given'
expect 2 'unknown option --bogus' --bogus 1 "$vectors/lms-trace.json"
expect 2 "'x' is not a number" --max-height x "$vectors/lms-trace.json"
expect 2 "unknown kernel 'mmx'" --kernel mmx "$vectors/lms-trace.json"
expect 0 '^usage: coppice-kat' --help
exit $bad
