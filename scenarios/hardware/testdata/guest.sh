# Runs in the guest, in the shared folder. Every part says what failed.
bad=0
part() {
	name=$1; shift
	"$@" > $name.out 2>&1 || { bad=1; echo "guest: $name failed: $*"; tail -n 40 $name.out; }
}
export RDMASIM_GUEST=1
part ibv /t/ibv.test -test.run Hardware -test.v
part netem /t/netem.test -test.run Hardware -test.v
part devices rdmasim hw devices
part run rdmasim hw run /t/lab.yaml --out run-clean
grep '^--- SKIP' *.out
exit $bad
