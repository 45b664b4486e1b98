package netem

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// recorder is a Runner that writes down what it is asked to do.
type recorder struct {
	ran  []string
	fail string // commands that contain it fail
}

func (r *recorder) Run(_ context.Context, c Command) (string, error) {
	r.ran = append(r.ran, c.String())
	if r.fail != "" && strings.Contains(c.String(), r.fail) {
		return "", errors.New("no")
	}
	return "", nil
}

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		m    Impairment
		want string
	}{
		{Impairment{Loss: 0.01}, "netem limit 100000 loss random 1%"},
		{Impairment{Loss: 1e-5, LossCorrelation: 0.25}, "netem limit 100000 loss random 0.001% 25%"},
		{Impairment{Gilbert: &GilbertElliott{P: 0.01, R: 0.3, LossBad: 1, LossGood: 0}}, "netem limit 100000 loss gemodel 1% 30% 100% 0%"},
		{Impairment{Delay: 30 * sim.Millisecond}, "netem limit 100000 delay 30000us"},
		{Impairment{Delay: 1500 * sim.Nanosecond, Jitter: 100 * sim.Nanosecond, Distribution: "pareto"}, "netem limit 100000 delay 1.5us 0.1us distribution pareto"},
		{Impairment{Delay: sim.Millisecond, Reorder: 0.25, ReorderGap: 5}, "netem limit 100000 delay 1000us reorder 25% gap 5"},
		{Impairment{Duplicate: 0.5, Corrupt: 0.125, Limit: 10}, "netem limit 10 duplicate 50% corrupt 12.5%"},
		{Impairment{Rate: 25 * sim.Gbps}, "netem limit 100000 rate 25000000000bit"},
		{Impairment{Loss: 0.1, ECN: true}, "netem limit 100000 loss random 10% ecn"},
	} {
		require.NoError(t, c.m.Check())
		require.Equal(t, c.want, strings.Join(c.m.args(), " "))
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		m    Impairment
		want string
	}{
		{Impairment{Loss: 1.5}, "loss 1.5 is no probability"},
		{Impairment{Loss: -0.1}, "no probability"},
		{Impairment{Loss: 0.1, Gilbert: &GilbertElliott{P: 0.1}}, "exclude each other"},
		{Impairment{Jitter: 1}, "jitter without delay"},
		{Impairment{Reorder: 0.1}, "needs one"},
		{Impairment{Delay: 2, Jitter: 1, Distribution: "poisson"}, "uniform, normal, pareto or paretonormal"},
		{Impairment{Delay: 2, Distribution: "normal"}, "needs a jitter"},
		{Impairment{Gilbert: &GilbertElliott{P: 2}}, "gilbert p 2"},
	} {
		require.ErrorContains(t, c.m.Check(), c.want)
	}
}

func TestNamesDoNotInject(t *testing.T) {
	for _, dev := range []string{"", "eth0; reboot", "-h", "a b", "averyveryverylongname", "eth0\n"} {
		_, err := Impair(dev, Impairment{Loss: 0.1}, Select{})
		require.Error(t, err, "%q", dev)
		_, err = LinkDown(dev)
		require.Error(t, err)
		_, err = Rules(dev, "x", nil)
		require.Error(t, err)
		_, err = MTU(dev, 1500, 9000)
		require.Error(t, err)
	}
	_, err := Rules("eth0", "x; flush ruleset", nil)
	require.Error(t, err)
}

func TestStatements(t *testing.T) {
	for _, c := range []struct {
		r    Rule
		want string
	}{
		{Rule{Action: Drop, PSN: -1, Every: 8, Nth: 4}, "udp dport 4791 numgen inc mod 8 4 counter drop"},
		{Rule{Action: MarkCE, QPN: 0x11, PSN: 5, Nth: 1}, "udp dport 4791 @th,104,24 0x11 @th,136,24 0x5 numgen inc mod 4294967295 0 counter ip ecn set ce"},
		{Rule{Action: Corrupt, QPN: 0x11, PSN: -1}, "udp dport 4791 @th,104,24 0x11 counter @th,192,8 set 0x5a"},
	} {
		s, err := c.r.statement()
		require.NoError(t, err)
		require.Equal(t, c.want, s)
	}
	_, err := (&Rule{Action: "delay", PSN: -1}).statement()
	require.ErrorIs(t, err, ErrNotSupported)
	_, err = (&Rule{Action: Drop, PSN: 1 << 24}).statement()
	require.ErrorContains(t, err, "24 bits")
}

// TestJournal: what is done is undone last first; a crash leaves a journal that
// Clean finds, and a living owner's is left alone.
func TestJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	ctx := context.Background()
	changes, err := Impair("eth0", Impairment{Loss: 0.1}, Select{QPN: 17})
	require.NoError(t, err)
	down, err := LinkDown("eth1")
	require.NoError(t, err)

	j, err := OpenJournal(dir)
	require.NoError(t, err)
	r := &recorder{}
	for _, c := range append(changes, down...) {
		require.NoError(t, j.Apply(ctx, r, c))
	}
	n, err := Clean(ctx, dir, r)
	require.NoError(t, err)
	require.Zero(t, n, "its owner lives")
	r.ran = nil
	require.NoError(t, j.Undo(ctx, r))
	require.Equal(t, []string{"ip link set dev eth1 up", "tc qdisc del dev eth0 root"}, r.ran)
	require.NoFileExists(t, j.Path())

	j, err = OpenJournal(dir)
	require.NoError(t, err)
	for _, c := range changes {
		require.NoError(t, j.Apply(ctx, r, c))
	}
	_, err = j.file.WriteString(`{"What":"cut sho`)
	require.NoError(t, err)
	require.NoError(t, j.file.Close()) // as the kernel does when the owner dies
	r = &recorder{fail: "tc qdisc del"}
	n, err = Clean(ctx, dir, r)
	require.NoError(t, err, "what is gone already counts as undone")
	require.Equal(t, 1, n)
	require.Equal(t, []string{"tc qdisc del dev eth0 root"}, r.ran)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestHardwareLeavesNothing makes every kind of change on a real interface of
// the guest and compares the host before and after.
func TestHardwareLeavesNothing(t *testing.T) {
	if os.Getenv("RDMASIM_GUEST") == "" {
		t.Skip("skipped: changes queues and rules of the host; runs in the guest")
	}
	ctx := context.Background()
	state := func() string {
		var all strings.Builder
		for _, c := range []string{"tc qdisc show", "tc filter show dev roce0", "nft list ruleset", "ip -o link show", "ip rule show"} {
			out, err := exec.Command("/bin/sh", "-c", c).Output()
			require.NoError(t, err, c)
			all.Write(out)
		}
		return all.String()
	}
	before := state()
	var all []Change
	add := func(c []Change, err error) {
		require.NoError(t, err)
		all = append(all, c...)
	}
	add(Impair("roce0", Impairment{Delay: sim.Millisecond, Jitter: 100 * sim.Microsecond, Distribution: "normal", Gilbert: &GilbertElliott{0.01, 0.3, 1, 0}, Duplicate: 0.01, Corrupt: 0.01, Reorder: 0.1, Rate: sim.Gbps, ECN: true}, Select{QPN: 17}))
	add(Impair("roce1", Impairment{Loss: 0.1, LossCorrelation: 0.5}, Select{}))
	add(Rules("roce1", "test", []Rule{{Action: Drop, PSN: -1, Every: 8, Nth: 4}, {Action: MarkCE, QPN: 17, PSN: 5, Nth: 1}, {Action: Corrupt, PSN: 7}}))
	add(MTU("roce0", 1500, 4200))
	for _, kill := range []bool{false, true} {
		j, err := OpenJournal(DefaultJournals)
		require.NoError(t, err)
		for _, c := range all {
			require.NoError(t, j.Apply(ctx, Exec{}, c))
		}
		require.NotEqual(t, before, state())
		if kill {
			require.NoError(t, j.file.Close())
			n, err := Clean(ctx, DefaultJournals, Exec{})
			require.NoError(t, err)
			require.Equal(t, 1, n)
		} else {
			require.NoError(t, j.Undo(ctx, Exec{}))
		}
		require.Equal(t, before, state())
	}
}
