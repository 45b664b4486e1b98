package scenarios

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/sim/simtest"
)

// Wireshark dissects every packet that a run writes as what it is, with nothing
// malformed in it.
func TestTsharkDissectsCaptures(t *testing.T) {
	if testing.Short() {
		t.Skip("tshark takes a second for every file")
	}
	simtest.Tool(t, "tshark", "tshark")
	for name, sets := range map[string][]string{
		"none": nil, "vlan": {"nic.encapsulation=vlan"}, "ipv6": {"nic.encapsulation=ipv6"}, "vxlan": {"nic.encapsulation=vxlan"},
		"vtep": {"switch.vtep=true"}, "cm": {"nic.setup.method=cm", "nic.setup.timeout=200us"}, "pause": {"nic.congestion=none", "switch.buffer.size=2MB", "traffic.1.incast.message=200KB"},
	} {
		t.Run(name, func(t *testing.T) {
			s := parse(t, lossy, sets)
			out := filepath.Join(t.TempDir(), "run")
			_, err := Run(context.Background(), s, Options{Out: out, Capture: &CaptureOptions{At: []string{"host", "switch:leaf0"}, MaxBytes: 8_000_000}})
			require.NoError(t, err)
			file := filepath.Join(out, FileCapture)
			kinds := map[string]int{}
			for _, line := range simtest.Tshark(t, file, "-T", "fields", "-e", "frame.protocols", "-e", "_ws.expert.message", "-e", "infiniband.bth.opcode", "-e", "frame.interface_name", "-e", "ip.dsfield.ecn") {
				f := strings.Split(line, "\t")
				require.Len(t, f, 5)
				proto := f[0]
				rdma := strings.HasSuffix(proto, ":infiniband") || strings.Contains(proto, ":infiniband:")
				assert.True(t, rdma || strings.HasSuffix(proto, ":macc"), proto)
				if !strings.HasPrefix(f[1], "dropped: ") && !strings.HasPrefix(f[1], "PFC: ") && !strings.HasPrefix(f[1], "ECN: ") { // our own comments
					assert.Empty(t, f[1], "tshark complains")
				}
				assert.NotEmpty(t, f[3], "interface")
				kinds[f[2]]++
				for _, layer := range map[string]string{"vlan": ":vlan:", "ipv6": ":ipv6:", "vxlan": ":vxlan:"} {
					if rdma && strings.HasPrefix(layer, ":"+name) {
						assert.Contains(t, proto, layer)
					}
				}
			}
			for _, op := range []string{"0", "1", "2", "6", "7", "8", "17"} {
				assert.Positive(t, kinds[op], "opcode %s among %v", op, kinds)
			}
			if name == "cm" {
				assert.Positive(t, kinds["100"], "management datagrams")
			}
			if name == "pause" {
				assert.Positive(t, kinds[""], "pause frames")
			}
		})
	}
}
