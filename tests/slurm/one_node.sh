#!/usr/bin/env bash
# Run a command on a SLURM cluster of this one machine, started for it and ended after it. As root, from Debian's
# packages; all of its state lies in a folder of its own, and no cluster that is there already is touched.
set -euo pipefail

skip() {
    printf '\n%s\n  THE SLURM TESTS ARE SKIPPED: %s\n%s\n\n' "$(printf '*%.0s' {1..78})" "$1" "$(printf '*%.0s' {1..78})" >&2
    exit 0
}

[ "$(id -u)" = 0 ] || skip "a cluster is started as root, and this is $(id -un)"
if ! command -v slurmctld slurmd munged >/dev/null; then
    command -v apt-get >/dev/null || skip "there is no slurmctld, and no apt-get to install it with"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq slurm-wlm munge; } >/dev/null 2>&1 ||
        skip "apt-get could not install slurm-wlm and munge"
fi

state=$(mktemp -d)
daemons=()
finish() {
    local code=$?
    [ $code = 0 ] || tail -n 20 "$state"/*.log >&2 || true
    scancel --user=root 2>/dev/null || true
    sleep 2
    for signal in TERM KILL; do
        for pid in "${daemons[@]}"; do kill -$signal "$pid" 2>/dev/null || true; done
        sleep 1
    done
    rm -rf "$state"
    exit $code
}
trap finish EXIT

port=$((20000 + RANDOM % 10000))
export SLURM_CONF="$state/slurm.conf"
mkdir "$state/spool" "$state/ctld"
head -c 1024 /dev/urandom >"$state/munge.key"
chmod 400 "$state/munge.key"
cat >"$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=localhost
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$state/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
KillWait=5
DefMemPerCPU=2048
ReturnToService=2
StateSaveLocation=$state/ctld
SlurmdSpoolDir=$state/spool
SlurmctldPidFile=$state/slurmctld.pid
SlurmdPidFile=$state/slurmd.pid
SlurmctldLogFile=$state/slurmctld.log
SlurmdLogFile=$state/slurmd.log
NodeName=localhost CPUs=$(nproc) RealMemory=$(awk '/MemTotal/ {print int($2 / 1024 * 0.9)}' /proc/meminfo) State=UNKNOWN
PartitionName=low Nodes=ALL Default=YES PriorityTier=1 State=UP
PartitionName=high Nodes=ALL PriorityTier=10 State=UP
CONF

munged --foreground --force --socket="$state/munge.socket" --key-file="$state/munge.key" \
    --pid-file="$state/munged.pid" --seed-file="$state/munge.seed" --log-file="$state/munged.log" 2>"$state/munge.log" &
daemons+=($!)
sleep 1
slurmctld -D -f "$SLURM_CONF" >/dev/null 2>&1 &
daemons+=($!)
slurmd -D -N localhost -f "$SLURM_CONF" >/dev/null 2>&1 &
daemons+=($!)
for _ in $(seq 30); do
    if sinfo --noheader --format=%t 2>/dev/null | grep -q idle; then
        "$@"
        exit
    fi
    sleep 1
done
echo "the one-node cluster did not come up" >&2
exit 1
