#!/bin/sh
# pkgconfig.sh PREFIX INCLUDE VERSION: the file for pkg-config, to standard output. PREFIX goes by the place of
# the file (pcfiledir), so that what is moved as a whole still works.
set -eu
sed "s|@PREFIX@|$1|; s|@INCLUDE@|$2|; s|@VERSION@|$3|" "$(dirname "$0")/faultline.pc.in"
