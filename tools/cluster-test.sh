#!/bin/sh
# The simulation on a cluster, for real: Debian's Slurm on this machine with two nodes. An array job solves the parts of
# a small character's poses; in the middle one node is killed with all that runs on it, Slurm finds it dead and queues its
# jobs again. Then the same by MPI (srun --mpi=pmix), if it is there. The arrays must be the bytes of a run without any
# cluster.
#
#   tools/cluster-test.sh JOUNCE WORK        make cluster-test
#
# Needs root (Slurm starts jobs for users) and the package slurm-wlm; skipped with a word without them. WORK is emptied.
set -eu
jounce=$(readlink -f "$1")
for program in slurmctld slurmd sbatch srun scontrol; do
    command -v $program >/dev/null || { echo "cluster-test: skipped, there is no $program (package slurm-wlm)"; exit 0; }
done
[ "$(id -u)" = 0 ] || { echo "cluster-test: skipped, needs root"; exit 0; }
rm -rf "$2" && mkdir -p "$2" && cd "$2"
work=$(pwd) parts=8 poses=128

mkdir -p state spool-n1 spool-n2
cat >slurm.conf <<CONF
ClusterName=jounce-test
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=17800
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
SlurmdSpoolDir=$work/spool-%n
StateSaveLocation=$work/state
SlurmUser=root
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdTimeout=6
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd-%n.log
ReturnToService=2
KillOnBadExit=1
NodeName=n1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=17801 CPUs=1 State=UNKNOWN
NodeName=n2 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=17802 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF="$work/slurm.conf" OMP_WAIT_POLICY=passive

# ours PATTERN: processes of this cluster whose command line has it. Their environment tells them from another Slurm's.
ours() {
    for folder in /proc/[0-9]*; do
        { tr '\0' ' ' <"$folder/cmdline" | grep -q "$1" && tr '\0' '\n' <"$folder/environ" | grep -qx "SLURM_CONF=$SLURM_CONF"; } \
            2>/dev/null && echo "${folder#/proc/}"
    done
}
end() {
    for pid in "$@"; do
        kill -9 "$pid" 2>/dev/null || true
    done
}
stop() { end $(cat slurmd-n1.pid slurmd-n2.pid slurmctld.pid 2>/dev/null) $(ours '^slurmstepd: '); }
trap stop EXIT
wait_for() { # SECONDS COMMAND: until it succeeds
    left=$1
    shift
    until "$@"; do
        left=$((left - 1))
        [ $left -gt 0 ] || { echo "cluster-test: waited in vain for: $*"; squeue || true; tail -n 5 slurmctld.log; exit 1; }
        sleep 1
    done
}
idle() { [ "$(sinfo -h -o %D -t idle 2>/dev/null | paste -sd+ | bc 2>/dev/null || echo 0)" = 2 ]; }
queue_empty() { [ -z "$(squeue -h 2>/dev/null)" ]; }
running_on() { squeue -h -t R -o %N 2>/dev/null | grep -q "^$1$"; }

# The character, and its poses solved without a cluster.
"$jounce" new clean --figure >/dev/null
sed -i -e 's/method: .*/method: lattice/; s/  nodes: .*/  nodes: 1500/' clean/manifest.yaml
"$jounce" build clean --until volume >/dev/null
cp -r clean alone && cp -r clean array && cp -r clean ranks
"$jounce" simulate alone --poses $poses >alone.log
(cd alone/poses && sha256sum poses.npy positions.npy valid.npy) >good.sums

slurmctld -i 2>/dev/null
for node in n1 n2; do
    slurmd -N $node
done
wait_for 60 idle
echo "Slurm $(slurmctld -V | cut -d ' ' -f 2), 2 nodes"

cat >part.sh <<JOB
#!/bin/sh
echo "part \$SLURM_ARRAY_TASK_ID on \$SLURMD_NODENAME, start \${SLURM_RESTART_COUNT:-0}"
exec "$jounce" simulate "$work/array" --poses $poses --shard \$SLURM_ARRAY_TASK_ID/$parts --threads 1
JOB
sbatch -Q --requeue --array=1-$parts -o "$work/part-%a.log" --open-mode=append part.sh
wait_for 60 running_on n2
sleep 2
# The node dies: its daemon, the jobs' keepers and the jobs.
victim=$(squeue -h -t R -w n2 -o %i | head -n 1)
number=$(scontrol show job "$victim" | sed -n 's/^JobId=\([0-9]*\).*/\1/p')
end "$(cat slurmd-n2.pid)" $(ours "^slurmstepd: \[$number") $(ours "$work/array.*--shard ${victim##*_}/")
echo "node n2 killed while it ran part $victim"
sleep 12
slurmd -N n2
wait_for 600 queue_empty
cat part-*.log >parts.log
again=$(grep -c 'start [1-9]' parts.log || true)
[ "$again" -gt 0 ] || { echo "cluster-test: no part was queued again"; exit 1; }
"$jounce" simulate array --poses $poses --merge >merge.log
(cd array/poses && sha256sum -c --quiet "$work/good.sums")
echo "array of $parts parts: $again queued again after the kill, the same bytes as without a cluster"

if srun --mpi=list 2>&1 | grep -q pmix && ldd "$jounce" | grep -q libmpi; then
    # On one node: two PMIx servers do not get along on one machine.
    srun -Q -w n1 -n 2 --overcommit --mpi=pmix "$jounce" simulate "$work/ranks" --poses $poses --threads 1 >ranks.log 2>&1 ||
        { tail -n 5 ranks.log; exit 1; }
    (cd ranks/poses && sha256sum -c --quiet "$work/good.sums")
    echo "srun --mpi=pmix with 2 ranks: the same bytes"
else
    echo "srun --mpi: skipped, this build has no MPI or Slurm no PMIx"
fi
