#!/bin/sh
# Has fault.so an effect on the program? usage: works.sh PROGRAM FAULT_SO; exit 0: yes
set -u
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
FAULT=alloc:1:ENOMEM FAULT_LOG=$log LD_PRELOAD=$2 "$1" --version >/dev/null 2>&1
[ $? -le 1 ] && [ -s "$log" ]
