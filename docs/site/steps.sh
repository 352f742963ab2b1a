#!/bin/sh
# steps.sh PAGE.md: the script of what the page says to do, for steps.bash.
set -eu
exec pandoc --from gfm+attributes --to plain --wrap none --lua-filter "$(dirname "$0")/steps.lua" "$1"
