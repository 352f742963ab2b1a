#!/bin/sh
# pkgconfig.sh PREFIX INCLUDE VERSION: the file for pkg-config, to standard output.
set -eu
sed "s|@PREFIX@|$1|; s|@INCLUDE@|$2|; s|@VERSION@|$3|" "$(dirname "$0")/faultline.pc.in"
