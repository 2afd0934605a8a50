#!/usr/bin/env bash
# docs/standards.md must be true: every cited file exists and holds the cited text, and every header of core that
# opens with a clause is cited. Links of the documents must lead somewhere.
# usage: standards_test.sh [SOURCE-FOLDER]
set -euo pipefail
cd -- "${1:-$(dirname -- "${BASH_SOURCE[0]}")/..}"
table=docs/standards.md
rows=0
bad=0
complain() {
  echo "FAILED: $*"
  bad=$((bad + 1))
}

# shellcheck disable=SC2016  # the backquotes of the table, not of the shell
while IFS='|' read -r _ clause _ file text _; do
  file=$(sed 's/^ *`//; s/` *$//' <<<"$file")
  text=$(sed 's/^ *`//; s/` *$//' <<<"$text")
  rows=$((rows + 1))
  if [ ! -f "$file" ]; then
    complain "$table cites $file for$clause, which does not exist"
  elif ! grep -qF -- "$text" "$file"; then
    complain "$file has no '$text', which $table cites for$clause"
  fi
done < <(grep -E '^\|.*\| `[^`]+` \| `[^`]+` \|$' "$table")
[ "$rows" -ge 20 ] || complain "only $rows rows found in $table: was its layout changed?"

# What the table forgot.
while read -r header; do
  if head -n 3 "$header" | grep -qE '(RFC|FIPS|SP 800-) ?[0-9]' && ! grep -qF "\`$header\`" "$table"; then
    complain "$header opens with a clause and has no row in $table"
  fi
done < <(find core -name '*.hpp' | LC_ALL=C sort)

# Relative links of the documents.
links=0
for document in *.md docs/*.md; do
  while read -r target; do
    links=$((links + 1))
    [ -e "$(dirname "$document")/$target" ] || complain "$document links to $target, which does not exist"
  done < <(grep -oE '\]\([^)#:]+\)' "$document" | sed 's/^](//; s/)$//')
done

echo "$rows clauses, $links links, $bad wrong"
[ "$bad" -eq 0 ]
