# A cluster of Slurm on this machine, for a test: munge, one controller, and nodes n1, n2, ... that
# are daemons under other names and ports, all on 127.0.0.1. Everything of it is in $CLUSTER, and all
# its processes are this shell's children, so that nobody else's are touched. Root is needed by no
# part of it. To be loaded by bats, after driver_common.

# Numbers of ports that nobody listens on, as many as asked for.
free_ports() {
    perl -MIO::Socket::INET -e '
        my @sockets = map { IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1) } 1 .. $ARGV[0];
        print $_->sockport, "\n" for @sockets' "$1"
}

# write_configuration NODES: two processors each, whatever the machine has.
write_configuration() {
    local nodes=$1 host node ports
    host=$(hostname -s)
    mapfile -t ports < <(free_ports $((nodes + 1)))
    # SlurmdTimeout: a node that has not answered for so long is given up, and its tasks go elsewhere.
    cat >"$CLUSTER/slurm.conf" <<END
ClusterName=faultline
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
SlurmctldPort=${ports[0]}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$CLUSTER/munge.socket
StateSaveLocation=$CLUSTER/state
SlurmdSpoolDir=$CLUSTER/spool/%n
SlurmctldPidFile=$CLUSTER/slurmctld.pid
SlurmdPidFile=$CLUSTER/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SwitchType=switch/none
MpiDefault=none
SlurmdParameters=config_overrides
SlurmdTimeout=4
ReturnToService=2
KillWait=5
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
    for ((node = 1; node <= nodes; node++)); do
        echo "NodeName=n$node NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[node]} CPUs=2"
    done >>"$CLUSTER/slurm.conf"
}

# start_cluster FOLDER NODES: the folder is new; its path is short (a socket is in it).
start_cluster() {
    export CLUSTER=$1
    mkdir -p "$CLUSTER/spool" "$CLUSTER/state"
    (umask 077 && head -c 1024 /dev/urandom >"$CLUSTER/munge.key")
    write_configuration "$2"
    export SLURM_CONF=$CLUSTER/slurm.conf
    start_daemon munge munged --foreground --force --socket="$CLUSTER/munge.socket" \
        --key-file="$CLUSTER/munge.key" --pid-file="$CLUSTER/munged.pid" \
        --seed-file="$CLUSTER/munge.seed" --log-file="$CLUSTER/munged.log"
    wait_until test -S "$CLUSTER/munge.socket"
    start_daemon slurmctld slurmctld -D
    start_nodes "$2"
}

# start_nodes NODES: those that are not there, or were lost.
start_nodes() {
    local node
    for ((node = 1; node <= $1; node++)); do
        [ -e "$CLUSTER/n$node" ] || start_daemon "n$node" slurmd -D -N "n$node"
    done
    wait_until all_are_idle "$1"
}

# start_daemon NAME COMMAND...: what it says goes to $CLUSTER/NAME.out; its number to $CLUSTER/NAME,
# as long as it is to run.
start_daemon() {
    local name=$1
    shift
    PATH=$PATH:/usr/sbin "$@" >>"$CLUSTER/$name.out" 2>&1 3>&- &
    echo "$!" >"$CLUSTER/$name"
}

all_are_idle() { [ "$(sinfo -h -N -t idle -o %N | wc -l)" = "$1" ]; }

# The processes of tasks on this node: each has the node in its environment, and this cluster.
tasks_on() {
    local file pid
    for file in /proc/[0-9]*/environ; do
        pid=${file#/proc/}
        pid=${pid%/environ}
        tr '\0' '\n' <"$file" 2>/dev/null | grep -qx "SLURMD_NODENAME=$1" &&
            tr '\0' '\n' <"$file" 2>/dev/null | grep -qxF "SLURM_CONF=$SLURM_CONF" && echo "$pid"
    done 2>/dev/null
    true
}

# lose_daemon NODE: its slurmd is killed; what runs there goes on.
lose_daemon() {
    kill -9 "$(cat "$CLUSTER/$1")"
    rm "$CLUSTER/$1"
}

# kill_tasks_on NODE: and slurmstepd, their parent, which has another environment.
kill_tasks_on() {
    local pid pids parents=()
    for pid in $(tasks_on "$1"); do
        parents+=("$(awk '{ print $4 }' "/proc/$pid/stat" 2>/dev/null)")
    done
    for pid in "${parents[@]}"; do
        [[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != slurmstepd ]] || kill -9 "$pid" || true
    done
    while pids=$(tasks_on "$1") && [ -n "$pids" ]; do
        # shellcheck disable=SC2086 # a list of numbers on purpose
        kill -9 $pids 2>/dev/null || true
    done
}

# lose_node NODE: as if the power went: its slurmd, and all that runs there, without a word.
lose_node() {
    lose_daemon "$1"
    kill_tasks_on "$1"
}

stop_cluster() {
    local node name
    for node in n1 n2 n3; do
        kill_tasks_on "$node"
    done
    for name in n1 n2 n3 slurmctld munge; do
        [ ! -e "$CLUSTER/$name" ] || kill -9 "$(cat "$CLUSTER/$name")" || true
    done
}
