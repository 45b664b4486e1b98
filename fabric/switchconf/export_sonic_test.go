package switchconf

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmasim/sim"
)

// plain strips every Value of a switch of where it comes from, and of what
// stands in for values that nobody gave.
func plain(s *Switch) *Switch {
	out := *s
	strip(reflect.ValueOf(&out).Elem())
	return &out
}

var originType = reflect.TypeFor[Origin]()

func strip(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == originType {
			kind := v.FieldByName("Kind").Int()
			v.SetZero()
			if kind == int64(Given) {
				v.FieldByName("Kind").SetInt(kind)
			}
			return
		}
		if from := v.FieldByName("From"); from.IsValid() && v.NumField() == 2 && v.FieldByName("V").IsValid() && Kind(from.FieldByName("Kind").Int()) != Given {
			v.SetZero()
			return
		}
		for i := range v.NumField() {
			strip(v.Field(i))
		}
	case reflect.Slice:
		fresh := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(fresh, v)
		if v.Len() == 0 {
			fresh = reflect.Zero(v.Type())
		}
		v.Set(fresh)
		for i := range v.Len() {
			strip(v.Index(i))
		}
	}
}

// Random switches come back from SONiC's tables as they were, after the
// roundings that are declared.
func TestSONiCRoundTrip(t *testing.T) {
	for seed := range uint64(40) {
		ports := randomPorts(rand.New(rand.NewPCG(seed, 11)))
		for i := range ports {
			ports[i].cable = max(ports[i].cable/sim.Metre, 1) * sim.Metre
			ports[i].detect = max(ports[i].detect, 100*sim.Millisecond)
			ports[i].restore = max(ports[i].restore, 100*sim.Millisecond)
			if ports[i].action == "" {
				ports[i].action = ActionAlert
			}
			for k := range ports[i].class {
				c := &ports[i].class[k]
				c.pmax = float64(int(c.pmax*100)) / 100
			}
		}
		sw := switchOf("", ports)
		sw.Hostname = Value[string]{}
		text, rounded, err := SONiCConfig(sw)
		require.NoError(t, err)
		require.Empty(t, rounded)
		im, err := ReadSONiC([]File{{Name: "x.json", Data: text}}, Options{})
		require.NoError(t, err)
		want, got := plain(sw), plain(im.Switch)
		for i := range got.Ports {
			got.Ports[i].Speed, want.Ports[i].Speed = Value[sim.Rate]{}, Value[sim.Rate]{} // of the platform, not of QoS
			got.Ports[i].From = want.Ports[i].From
		}
		require.Equal(t, normal(want), normal(got), "seed %d", seed)
		checkYANG(t, text)
	}
}

// normal makes two switches comparable: bindings in order of their numbers, and
// no memory of which line an entry began in.
func normal(s *Switch) string {
	for i := range s.Ports {
		p := &s.Ports[i]
		var groups []PG
		for _, g := range p.PGs {
			if g.Profile.IsSet() { // the others are bound by the switch
				if g.Auto { // which profile that is follows from the platform
					g.Profile.V = ""
				}
				groups = append(groups, PG{Index: g.Index, Profile: g.Profile, Auto: g.Auto})
			}
		}
		p.PGs = groups
		sortPGs(p)
		for k := range p.Queues {
			p.Queues[k].From = Origin{}
		}
	}
	for i := range s.Ports {
		q := s.Ports[i].Queues
		for a := range q {
			for b := a + 1; b < len(q); b++ {
				if q[b].Index < q[a].Index {
					q[a], q[b] = q[b], q[a]
				}
			}
		}
		s.Ports[i].From = Origin{}
	}
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		panic(err)
	}
	return regexp.MustCompile(`"From": \{[^}]*\}`).ReplaceAllString(string(text), `"From": 0`)
}

// Real files of SONiC come back as they were.
func TestSONiCRoundTripOfRealFiles(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "reference", "data", "sonic", "*.json"))
	files = append(files, filepath.Join("testdata", "config_db.json"), filepath.Join("testdata", "nvidia.json"))
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			first, err := ReadSONiC([]File{{Name: file, Data: data}}, Options{})
			require.NoError(t, err)
			text, rounded, err := SONiCConfig(first.Switch)
			require.NoError(t, err)
			require.Empty(t, rounded)
			again, err := ReadSONiC([]File{{Name: "again.json", Data: text}}, Options{})
			require.NoError(t, err, "%s", text)
			want, got := plain(first.Switch), plain(again.Switch)
			for _, s := range []*Switch{want, got} { // what the platform is is not exported
				s.Hostname, s.Platform, s.HWSKU, s.ASIC, s.Cell, s.BufferModel = Value[string]{}, Value[string]{}, Value[string]{}, Value[string]{}, Value[sim.Bytes]{}, Value[BufferModel]{}
				s.Profiles = computed(s.Profiles)
				var ports []Port
				for _, p := range s.Ports {
					p.Lanes, p.Speed, p.MTU, p.Breakout, p.PFCAsymmetric = Value[[]int]{}, Value[sim.Rate]{}, Value[sim.Bytes]{}, Value[string]{}, Value[bool]{}
					if len(p.PGs)+len(p.Queues) > 0 || p.Cable.IsSet() || p.PFCEnable.IsSet() {
						ports = append(ports, p)
					}
				}
				s.Ports = ports
			}
			require.Equal(t, normal(want), normal(got))
			checkYANG(t, text)
		})
	}
}

// computed leaves out profiles that the switch makes by itself.
func computed(list []Profile) (out []Profile) {
	for _, p := range list {
		if p.Pool.IsGiven() {
			out = append(out, p)
		}
	}
	return out
}

// yang are ranges of SONiC's YANG models, written down from the tables of its
// configuration guide: pattern and bounds by table and field.
var yang = []struct {
	table, field string
	low, high    int64
	pattern      string
}{
	{"WRED_PROFILE", "green_min_threshold", 0, 1 << 40, ""}, {"WRED_PROFILE", "green_max_threshold", 0, 1 << 40, ""},
	{"WRED_PROFILE", "green_drop_probability", 0, 100, ""}, {"WRED_PROFILE", "wred_green_enable", 0, 0, "true|false"},
	{"WRED_PROFILE", "ecn", 0, 0, "ecn_(none|green|yellow|red|green_yellow|green_red|yellow_red|all)"},
	{"BUFFER_POOL", "type", 0, 0, "ingress|egress|both"}, {"BUFFER_POOL", "mode", 0, 0, "static|dynamic"},
	{"BUFFER_PROFILE", "dynamic_th", -8, 7, ""}, {"BUFFER_PROFILE", "size", 0, 1 << 40, ""},
	{"PORT_QOS_MAP", "pfc_enable", 0, 0, "([0-7](,[0-7])*)?"},
	{"PFC_WD", "action", 0, 0, "drop|forward|alert"}, {"PFC_WD", "detection_time", 100, 5000, ""}, {"PFC_WD", "restoration_time", 100, 60000, ""},
	{"PFC_WD", "POLL_INTERVAL", 100, 1000, ""}, {"SCHEDULER", "type", 0, 0, "DWRR|WRR|STRICT"}, {"SCHEDULER", "weight", 1, 100, ""},
	{"LOSSLESS_TRAFFIC_PATTERN", "mtu", 1, 9216, ""}, {"LOSSLESS_TRAFFIC_PATTERN", "small_packet_percentage", 0, 100, ""},
}

// checkYANG demands that tables are within those ranges, and that what is
// referred to is there.
func checkYANG(t *testing.T, text []byte) {
	var db map[string]map[string]map[string]string
	require.NoError(t, json.Unmarshal(text, &db), "every value is a string")
	for _, y := range yang {
		for key, fields := range db[y.table] {
			v, ok := fields[y.field]
			switch {
			case !ok:
			case y.pattern != "":
				assert.Regexp(t, "^("+y.pattern+")$", v, "%s|%s %s", y.table, key, y.field)
			default:
				n, err := strconv.ParseInt(v, 10, 64)
				assert.NoError(t, err)
				assert.True(t, n >= y.low && n <= y.high, "%s|%s %s = %d", y.table, key, y.field, n)
			}
		}
	}
	for key, w := range db["WRED_PROFILE"] {
		if w["green_min_threshold"] != "" && w["green_max_threshold"] != "" {
			assert.LessOrEqual(t, wholeNumber(w["green_min_threshold"]), wholeNumber(w["green_max_threshold"]), key)
		}
	}
	for key, p := range db["BUFFER_PROFILE"] {
		if db["BUFFER_POOL"] != nil {
			assert.Contains(t, db["BUFFER_POOL"], p["pool"], key)
		}
	}
	for key := range db["QUEUE"] {
		assert.Regexp(t, `^.+\|\d+$`, key)
	}
	for _, cable := range db["CABLE_LENGTH"]["AZURE"] {
		assert.Regexp(t, `^\d+m$`, cable)
	}
}

func TestSONiCRoundings(t *testing.T) {
	ports := []wantPort{{name: "Ethernet0", gbps: 100, cable: 1500, detect: 50 * sim.Millisecond, restore: 250500 * sim.Microsecond, action: ActionDrop}}
	c := &ports[0].class[3]
	*c = wantClass{queue: 3, group: 3, pfc: true, ecn: true, kmin: 1, kmax: 2, pmax: 0.054, buffer: true, dynamic: true, alpha: -3, wred: "W", profile: "P"}
	text, rounded, err := SONiCConfig(switchOf("sw", ports))
	require.NoError(t, err)
	var all []string
	for _, r := range rounded {
		all = append(all, r.Field+" "+r.Given+" "+r.Written)
	}
	assert.ElementsMatch(t, []string{"pmax 5.4% 5%", "cable 1.5m 2m", "watchdog 50ms 100ms", "watchdog 250.5ms 251ms"}, all)
	checkYANG(t, text)
}

// An alpha that the chip lacks is refused, and not rounded.
func TestAlphasAreRefused(t *testing.T) {
	for _, c := range []struct {
		asic  string
		alpha int
		want  string
	}{
		{"th5", 4, "port Ethernet0, class 3: alpha 2^4: Broadcom Tomahawk5 has 2^-7 to 2^3"},
		{"spc4", -8, "NVIDIA Spectrum-4 has 2^-7 to 2^7"}, {"", 8, "SONiC has 2^-8 to 2^7"}, {"", 7, ""}, {"th5", 3, ""},
	} {
		ports := []wantPort{{name: "Ethernet0", gbps: 100}}
		ports[0].class[3] = wantClass{queue: 3, group: 3, pfc: true, buffer: true, dynamic: true, alpha: c.alpha, profile: "P"}
		sw := switchOf("sw", ports)
		if c.asic != "" {
			sw.ASIC = Of(c.asic)
		}
		for _, format := range []string{"sonic-patch", "ecnconfig", "dcb"} {
			_, err := Render(format, sw)
			if c.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, c.want, format)
			}
		}
	}
}

func TestRenderErrors(t *testing.T) {
	sw := switchOf("sw", []wantPort{{name: "Ethernet0", gbps: 100}})
	_, err := Render("nxso", sw)
	assert.ErrorContains(t, err, `unknown export format "nxso": did you mean nxos? want one of dcb, `)
	for _, name := range []string{"a|b", "a,b", "[x]", "", " x", "x\n", strings.Repeat("x", 300)} {
		broken := *sw
		broken.Pools = []Pool{{Name: name}}
		_, err := Render("sonic-patch", &broken)
		assert.ErrorContains(t, err, "buffer pool "+strconv.Quote(name))
	}
	lost := *sw
	lost.Ports = []Port{{Name: "Ethernet0", Queues: []Queue{{Index: 3, WRED: Of("none")}}}}
	_, err = Render("nxos", &lost)
	assert.ErrorContains(t, err, `there is no WRED profile "none"`)
	sw.ASIC = Of("th5")
	_, err = Render("nvue", sw)
	assert.ErrorContains(t, err, "Cumulus Linux with NVUE runs on NVIDIA Spectrum")
}

// A curve that PFC makes useless is exported, with a warning.
func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		kmin, kmax int64
		want       string
	}{{100, 3_000_000, ""}, {100, 4_000_000, "class 3: kmax 4000000 is above 3728270"}, {3_728_270, 5_000_000, "class 3: kmin 3728270 is not below 3728270"}} {
		ports := []wantPort{{name: "Ethernet0", gbps: 100}} // 32 MiB / 9 at alpha 1/8
		ports[0].class[3] = wantClass{queue: 3, group: 3, pfc: true, ecn: true, kmin: c.kmin, kmax: c.kmax, pmax: 1, buffer: true, dynamic: true, alpha: -3, wred: "W", profile: "P"}
		for _, format := range Renderers.Names() {
			r, err := Render(format, switchOf("sw", ports))
			require.NoError(t, err)
			if c.want == "" {
				assert.Empty(t, r.Warnings)
				continue
			}
			require.Len(t, r.Warnings, 1)
			assert.Contains(t, r.Warnings[0], c.want)
			assert.Contains(t, r.Text(), "WARNING: "+c.want)
		}
	}
}

// A device with few profiles refuses more values than it has.
func TestVRPHasFewProfiles(t *testing.T) {
	var ports []wantPort
	for i := range 32 {
		p := wantPort{name: "Ethernet" + strconv.Itoa(4*i), gbps: 100}
		p.class[3] = wantClass{queue: 3, group: 3, pfc: true, buffer: true, dynamic: true, headroom: int64(100_000 + 2000*i), profile: "P"}
		ports = append(ports, p)
	}
	_, err := Render("vrp", switchOf("sw", ports[:31]))
	require.NoError(t, err)
	_, err = Render("vrp", switchOf("sw", ports))
	require.ErrorContains(t, err, "headroom: 32 different values: the device has 31 profiles")
	ports[0].class[3].headroom = 31 << 20
	_, err = Render("vrp", switchOf("sw", ports[:1]))
	require.ErrorContains(t, err, "the device takes at most 31457280 bytes")
}
