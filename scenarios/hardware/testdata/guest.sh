# Runs in the guest, in the shared folder. Every part says what failed. With SHORT
# set, it leaves out what takes longest.
bad=0
part() {
	name=$1; shift
	read begin idle < /proc/uptime
	"$@" > $name.out 2>&1 || { bad=1; echo "guest: $name failed: $*"; tail -n 40 $name.out; }
	read end idle < /proc/uptime
	echo "guest: $name took $((${end%.*} - ${begin%.*})) s"
}
state() { tc qdisc show; nft list ruleset; ip rule show; ip -o link show; }
export RDMASIM_GUEST=1
part ibv /t/ibv.test -test.run Hardware -test.v
part bench /t/ibv.test -test.run '^$' -test.bench . -test.benchtime 1x
part netem /t/netem.test -test.run Hardware -test.v
part devices rdmasim hw devices
part doctor rdmasim hw doctor --profile lossy
part ping rdmasim hw ping rxe0 rxe1 --size 64B,4KB --count 20
part pingud rdmasim hw ping rxe0 rxe1 --service ud --count 20
part run rdmasim hw run /t/lab.yaml --out run-clean --no-report
state > before.txt
part loss rdmasim hw run /t/lab-loss.yaml --out run-loss --no-report
part blocked rdmasim hw run /t/lab-blocked.yaml --out run-blocked --no-report
for i in verbs rnr loss1 loss10 loss100 datagrams; do
	part $i rdmasim hw run /t/lab-$i.yaml --out run-$i --no-report
done
agents="loss10 three"
ends="INT KILL"
[ -n "$SHORT" ] && agents=loss10 ends=INT
for i in $agents; do
	at="--host h0=a/rxe0 --host h1=b/rxe1"
	[ $i = three ] && at="$at --host h2=c/rxe1"
	part agents-$i rdmasim hw run /t/lab-$i.yaml $at --via 'rdmasim hw agent' --out run-agents-$i --no-report
done
! rdmasim hw run /t/lab.yaml --device h0=rxe0 --device h1=rxe0 --out run-same > same.out 2>&1 || { bad=1; echo "guest: one device at both ends was taken"; }
[ -n "$SHORT" ] || part acceptance rdmasim hw acceptance rxe0 rxe1 --profile lossy --count 50 --out acceptance --no-report
part dry rdmasim hw run /t/lab-loss.yaml --dry-run
state > after.txt

rdmasim hw run /t/lab-long.yaml --out run-long > killed.out 2>&1 &
pid=$!
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	sleep 0.5
	state > during.txt
	grep -q netem during.txt && break
done
kill -9 $pid
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	sleep 1
	state > killed.txt
	[ $i -gt 2 ] && cmp -s before.txt killed.txt && break
done
cmp before.txt killed.txt || { bad=1; echo "guest: a killed run has left something behind"; }

# Real pause frames on the pair of interfaces: what the other end captures.
mkdir -p /etc
echo root:x:0:0::/root:/bin/sh > /etc/passwd # tcpdump looks for it
listen() { tcpdump -i roce1 -Z root --immediate-mode -U -w /tmp/$1.pcap 'ether proto 0x8808' > $1.tcpdump 2>&1 & ear=$!; sleep 2; }
deaf() { sleep 1; kill $ear; wait $ear 2> /dev/null; cp /tmp/$1.pcap $1.pcap; }
rdmasim hw pause roce0 --for 1s > pause-refused.out 2>&1; [ $? = 2 ] || { bad=1; echo "guest: pause frames without the flag"; }
rdmasim hw pause roce0 roce1 --for 1s --i-own-this-fabric > pause-two.out 2>&1; [ $? = 2 ] || { bad=1; echo "guest: pause frames on two links"; }
listen pause
part pause rdmasim hw pause roce0 --priority 3 --quanta 60000 --for 1s --i-own-this-fabric
deaf pause
listen pause-killed
rdmasim hw pause roce0 --quanta 60000 --for 60s --i-own-this-fabric > pause-killed.out 2>&1 &
pid=$!
for i in 1 2 3 4 5 6 7 8 9 10; do
	sleep 1
	[ $(stat -c %s /tmp/pause-killed.pcap) -gt 200 ] && break
done
rdmasim hw pause roce1 --for 1s --i-own-this-fabric > pause-second.out 2>&1; [ $? = 2 ] || { bad=1; echo "guest: a second link was paused"; }
kill -9 $pid
wait $pid 2> /dev/null
gone() { for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -z "$(ls /run/rdmasim/*.journal 2> /dev/null)" ] && return 0; sleep 1; done; return 1; }
gone || { bad=1; echo "guest: the guard of a pause has not cleaned up"; }
deaf pause-killed
listen pause-after
deaf pause-after

# The guard is killed: the run makes itself a new one, which cleans up after the
# run. Both are killed at once: the changes stay until hw clean takes them away.
words() { cat $1/cmdline 2> /dev/null | tr '\0' ' '; }
guards() { for p in /proc/[0-9]*; do words $p | grep -q 'hw guard' && echo ${p#/proc/}; done; }
begin() {
	rdmasim hw run /t/lab-long.yaml --out $1 --no-report > $1.out 2>&1 &
	pid=$!
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		sleep 0.5
		tc qdisc show | grep -q netem && return
	done
}
if [ -z "$SHORT" ]; then
begin run-guarded
first=$(guards)
kill -9 $first
sleep 3
second=$(guards)
echo "$first $second" > guards.txt
kill -9 $pid
wait $pid 2> /dev/null
gone
state > guarded.txt
begin run-unguarded
kill -STOP $pid
kill -9 $(guards) $pid
wait $pid 2> /dev/null
sleep 2
state > unguarded.txt
rdmasim hw clean > clean.out 2>&1
state > cleaned.txt

# An agent is killed in mid-run: its own guard undoes its changes, and the run fails.
rdmasim hw run /t/lab-long.yaml --host h0=a/rxe0 --host h1=b/rxe1 --via 'rdmasim hw agent' --out run-agent-killed --no-report > agent-killed.out 2>&1 &
pid=$!
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	sleep 0.5
	tc qdisc show | grep -q netem && break
done
tc qdisc show > agent-during.txt
for p in /proc/[0-9]*; do words $p | grep -q 'hw agent' && ! words $p | grep -q 'hw run' && kill -9 ${p#/proc/}; done
wait $pid
echo $? > agent-killed.status
gone
state > agent-killed.txt
fi

# rxe, veth, bridge, veth, rxe.
LAB_PORTS=1 dash /lab.sh > lab.out 2>&1 || { bad=1; echo "guest: the lab with ports was not set up"; cat lab.out; }
state > before-bridge.txt
for how in $ends; do
	rdmasim hw bridge port0 port1 --fault 'loss: {link: "port0>bridge", probability: 20%}' > bridge-$how.out 2>&1 &
	pid=$!
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		sleep 1
		grep -q '^forwarding' bridge-$how.out && break
	done
	[ $how = INT ] && part bridged rdmasim hw run /t/lab-bridge.yaml --out run-bridge --no-report
	kill -$how $pid
	wait $pid
	for i in 1 2 3 4 5 6 7 8 9 10; do
		state > after-bridge.txt
		cmp -s before-bridge.txt after-bridge.txt && break
		sleep 1
	done
	cmp before-bridge.txt after-bridge.txt || { bad=1; echo "guest: a bridge ($how) has left something behind"; }
done
grep '^--- SKIP' *.out
exit $bad
