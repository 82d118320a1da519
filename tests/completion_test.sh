#!/usr/bin/env bash
# Loads the bash completion and asks it to complete a command and an option. Argument: the program.
set -euo pipefail
source <("$1" completion bash)
COMP_WORDS=(isoloop ma) COMP_CWORD=1
_isoloop
[[ " ${COMPREPLY[*]} " == *" match "* ]]
COMP_WORDS=(isoloop match x --al) COMP_CWORD=3
_isoloop
[[ "${COMPREPLY[*]}" == "--align" ]]
if command -v man >/dev/null; then "$1" man | man -l - 2>&1 | grep -q 'SYNOPSIS'; fi
