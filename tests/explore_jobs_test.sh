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

# Ctrl-C on the program itself: exit 1, a valid partial result, and the same bytes in the end.
wide=(smelt-200m-e192 --gpu h100-sxm5 --tol flops=3%,params=3%,kv=3%)
code=0
timeout --signal=INT 0.7 "$ISOLOOP" explore "${wide[@]}" --threads 1 --format json --output part.json || code=$?
if [ -f part.json ]; then
  grep -q '"schema": "isoloop/explore/v1"' part.json
  "$ISOLOOP" explore "${wide[@]}" --resume part.json --format json --output resumed.json
  "$ISOLOOP" explore "${wide[@]}" --format json --output whole.json
  cmp resumed.json whole.json
else
  echo "interrupted before the search began (exit $code)"
  exit 1
fi
