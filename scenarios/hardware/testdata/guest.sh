# Runs in the guest, in the shared folder. Every part says what failed.
bad=0
part() {
	name=$1; shift
	"$@" > $name.out 2>&1 || { bad=1; echo "guest: $name failed: $*"; tail -n 40 $name.out; }
}
part ibv /t/ibv.test -test.run Hardware -test.v
export RDMASIM_GUEST=1
part netem /t/netem.test -test.run Hardware -test.v
grep -q '^--- PASS: TestHardwareOperations' ibv.out || { bad=1; echo "guest: the operations were not tested"; }
grep '^--- SKIP' *.out
exit $bad
