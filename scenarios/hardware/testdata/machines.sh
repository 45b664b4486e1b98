# Runs on machine a in the shared folder; b is reached by ssh, also under the name
# c, so that three agents take part. What is about runs that break goes first.
bad=0
fail() { bad=1; echo "guest: $*"; }
now() { read up idle < /proc/uptime; echo "${up%.*}"; }
printf 'Host c\n\tHostName b\n\tHostKeyAlias b\n' >> /root/.ssh/config
# What the script itself does on b shares one login.
ssh -M -S /tmp/login -f -N b
on_b() { ssh -S /tmp/login b "$@"; }
state() { on_b 'tc qdisc show; nft list ruleset; ip rule show; ip route show table all; ip -o link show'; }
# expect STATUS NAME COMMAND...
expect() {
	want=$1 name=$2; shift 2
	begin=$(now)
	"$@" > $name.out 2>&1
	got=$?
	echo "guest: $name took $(($(now) - begin)) s"
	[ $got = $want ] || { fail "$name: status $got instead of $want"; tail -n 30 $name.out; }
}
two="--host h0=a/rxe0 --host h1=b/rxe0"
state > before.txt

expect 0 pair rdmasim hw run /t/machines-pair.yaml $two --out run-pair --no-report
expect 0 incast rdmasim hw run /t/machines-incast.yaml $two --host h2=c/rxe1 --out run-incast --no-report
expect 0 loss rdmasim hw run /t/machines-loss.yaml $two --out run-loss --no-report
state > after-loss.txt

expect 2 nowhere rdmasim hw run /t/machines-loss.yaml --host h0=a/rxe0 --host h1=nowhere/rxe0 --out run-nowhere
printf '#!/bin/sh\nexec rdmasim hw agent\n' > /agent-a
on_b '/bb/cat > /agent-b' <<'END'
#!/bin/sh
echo '{"kind":"hello","version":"v0.0.1"}'
/bb/cat > /dev/null
END
expect 2 version rdmasim hw run /t/machines-loss.yaml $two --via 'ssh {} sh /agent-{}' --out run-version
expect 2 device rdmasim hw run /t/machines-loss.yaml --host h0=a/rxe0 --host h1=b/mlx5_0 --out run-device
state > after-refused.txt

# broken NAME COMMAND...: the command is run once the fault is in place on b.
broken() {
	name=$1; shift
	begin=$(now)
	rdmasim hw run /t/machines-long.yaml $two --out run-$name --no-report > $name.out 2>&1 &
	pid=$!
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		sleep 1
		on_b tc qdisc show > during-$name.txt
		grep -q netem during-$name.txt && break
	done
	sleep 4
	"$@"
	wait $pid
	echo $? > $name.status
	[ $name = cable ] && ip link set mgmt0 up
	for i in 1 2 3 4 5 6 7 8 9 10; do
		state > after-$name.txt
		cmp -s before.txt after-$name.txt && break
		sleep 2
	done
	on_b sh /t/machines-procs.sh '"*rdmasim hw [ag]*"' > left-$name.txt
	echo "guest: $name took $(($(now) - begin)) s"
}
broken killed on_b sh /t/machines-procs.sh '"rdmasim hw agent *"' 9
broken ssh sh /t/machines-procs.sh 'ssh *b rdmasim hw agent *' 9
coordinator_dies() { kill -9 $pid; }
broken coordinator coordinator_dies
broken cable ip link set mgmt0 down

expect 0 doctor rdmasim hw doctor a b --profile lossy
on_b 'ip link set roce1 mtu 900'
on_b 'nft add table netdev t; nft add chain netdev t c "{ type filter hook ingress device roce0 priority 0; }"; nft add rule netdev t c ip saddr 10.7.0.1 udp dport 4791 drop; nft add rule netdev t c ip saddr 10.7.0.2 ip length 600-9000 drop'
expect 1 ill rdmasim hw doctor a b nowhere --profile lossy --json
exit $bad
