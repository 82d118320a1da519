#!/usr/bin/env bash
# Runs the example git hook in a throw-away repository: equal pairs pass, a changed config is refused.
# Arguments: the program, source folder.
set -euo pipefail
program=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git init -q "$work"
cd "$work"
git config user.name test
git config user.email test@example.invalid
cp "$source"/examples/pairs/*.json .
cp "$source/examples/ci/pre-commit" .git/hooks/pre-commit
export ISOLOOP=$program
git add .
git commit -q -m "equal pairs" >/dev/null
sed -i 's/"experts": [0-9]*/"experts": 8/' answer-1.json
git add .
if git commit -q -m "unequal pair" >out.txt 2>&1; then echo "the hook let an unequal pair pass"; exit 1; fi
grep -q 'out of budget' out.txt
