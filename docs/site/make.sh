#!/usr/bin/env bash
# make.sh BUILD: the site of the documentation in BUILD/site, from the texts of this tree, by pandoc. See docs/README.md.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
site=$build/site
export PARTS=$build/site-parts LINKED=$build/site-parts/linked

# page SOURCE FORMAT [OPTION...]: the page of a text, which is read from standard input.
page() {
    local source=$1 name=${1%.md} format=$2
    shift 2
    name=${name%.scd}
    [ "$source" != docs/index.md ] || name=index
    mkdir -p "$site/$(dirname "$name")"
    # Columns: in a narrower text pandoc would give tables widths.
    pandoc --from "$format" --to html5 --standalone --template docs/site/page.html --no-highlight \
        --columns 10000 --lua-filter docs/site/filter.lua --metadata "source=$source" "$@" \
        --output "$site/$name.html"
}

# What is inserted: see filter.lua.
parts() {
    "$build/faultline" claims | awk '
        {
            family = substr($1, 1, 1)
            if (family != before) printf "\n## Family %s\n\n| claim | what it says | from |\n|---|---|---|\n", family
            before = family
            id = $1; sub(/^[^ ]+ +/, ""); gsub(/\|/, "\\|")
            at = match($0, /  \[[^\[]*\]$/)
            printf "| `%s` | %s | %s |\n", id, substr($0, 1, at - 1), substr($0, at + 3, RLENGTH - 4)
        }' >"$PARTS/claims.md"
    # It fails where not everything was run; its table says so.
    scripts/proof.sh "$build" >/dev/null 2>"$PARTS/proof.err" || [ -s "$PARTS/proof.err" ]
    sed -n '/^Why a verdict/,/^## /{/^## /!p}' "$build/proof/index.md" |
        sed 's/\[\([^]]*\)\](#[^)]*)/\1/' >"$PARTS/proof.md"
}

rm -rf "$site" "$PARTS"
mkdir -p "$site" "$PARTS"
cat reports/page/html/page.css docs/site/site.css >"$site/site.css"
parts
: >"$LINKED"
while read -r text; do
    toc=()
    [ "$(grep -c '^## ' "$text")" -lt 4 ] || toc=(--toc)
    page "$text" gfm+attributes "${toc[@]}" < <(cat "$text")
done < <(find . -path './build*' -prune -o -name '*.md' -printf '%P\n' | sort)
for manual in man/*.scd; do
    name=$(basename "$manual" .scd)
    scdoc < <(cat "$manual") | page "$manual" man --toc --toc-depth 2 --shift-heading-level-by 1 \
        --variable heading=yes --metadata "title=${name%.*}(${name##*.})"
done
# What texts link to besides texts is shown as it is.
sort -u "$LINKED" | while read -r file; do
    { echo '~~~~~~~~~~~~'; cat "$file"; echo '~~~~~~~~~~~~'; } |
        page "$file" markdown --variable heading=yes --metadata "title=$file"
done
echo "$site/index.html"
