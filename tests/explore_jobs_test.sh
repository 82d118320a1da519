#!/usr/bin/env bash
# Runs the job scripts of examples/jobs with several processes: merged they give the bytes of one run;
# an interrupted task leaves a partial result and continues. Arguments: the program, source folder.
set -euo pipefail
export ISOLOOP=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
question=(smelt-200m-e192 --fix depth=12 --gpu h100-sxm5)
"$ISOLOOP" explore "${question[@]}" --format json --output single.json

# A Slurm array, task by task, with the variables Slurm sets.
export SLURM_ARRAY_TASK_COUNT=3 SLURM_CPUS_PER_TASK=2
for task in 1 2 3; do
  SLURM_ARRAY_TASK_ID=$task bash "$source/examples/jobs/explore.sbatch" "${question[@]}" &
done
wait
"$ISOLOOP" merge shards/*.json --format json --output merged.json
cmp single.json merged.json

# GNU parallel, or xargs.
code=0
"$source/examples/jobs/explore-parallel" 2>usage.txt || code=$?
[ "$code" = 2 ] && grep -q '^usage: explore-parallel SHARDS FOLDER BASELINE' usage.txt
"$source/examples/jobs/explore-parallel" 4 front "${question[@]}" >/dev/null
cmp single.json front/explore.json

# Fewer threads than asked for, since the system grants no more: a stack of 4 GiB each does not fit
# into the memory a process may ask for. Where the program itself does not (sanitizers), nothing to test.
small() { (ulimit -s 4194304 && ulimit -v 6291456 && "$@"); }
if small "$ISOLOOP" --version >/dev/null 2>&1; then
  small "$ISOLOOP" explore "${question[@]}" --threads 8 --format json --output few.json
  cmp single.json few.json
fi

# Ctrl-C on the program itself, once the first unit is done: exit 1, a valid partial result, and the
# same bytes in the end.
wide=(smelt-200m-e192 --gpu h100-sxm5 --tol flops=3%,params=3%,kv=3%)
mkfifo progress
"$ISOLOOP" explore "${wide[@]}" --threads 1 --progress json --format json --output part.json 2>progress &
search=$!
exec 3<progress
while read -r line <&3; do
  [[ $line =~ \"units_done\":\ ?[1-9] ]] || continue
  kill -INT "$search"
  break
done
cat <&3 >/dev/null
exec 3<&-
code=0
wait "$search" || code=$?
[ "$code" = 1 ] || { echo "exit $code after an interrupt, expected 1"; exit 1; }
grep -q '"schema": "isoloop/explore/v1"' part.json
grep -q '"complete": false' part.json
"$ISOLOOP" explore "${wide[@]}" --resume part.json --format json --output resumed.json
"$ISOLOOP" explore "${wide[@]}" --format json --output whole.json
cmp resumed.json whole.json
