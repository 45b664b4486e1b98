package netem

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostFile is a faked host: files of /sys and /proc, what commands print, and the
// findings that the doctor must come to, in any order. Lines are "file PATH
// CONTENT", "dir PATH", "link PATH TARGET", "pcie PATH relaxed=on|off read=BYTES",
// "run COMMAND > FILE", "profile NAME", and then "SEVERITY ID WHERE [TEXT]".
type hostFile struct {
	root     string
	commands answers
	profiles []wantProfile
}

type wantProfile struct {
	name Profile
	want []string
}

func readHost(t *testing.T, path string) *hostFile {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	h := &hostFile{root: t.TempDir(), commands: answers{}}
	place := func(name string) string {
		p := filepath.Join(h.root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		return p
	}
	for _, line := range strings.Split(string(b), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		name, content, _ := strings.Cut(rest, " ")
		switch word {
		case "", "#":
		case "file":
			require.NoError(t, os.WriteFile(place(name), []byte(content+"\n"), 0o644))
		case "dir":
			require.NoError(t, os.MkdirAll(place(name), 0o755))
		case "link":
			require.NoError(t, os.Symlink(content, place(name)))
		case "pcie":
			require.NoError(t, os.WriteFile(place(name), pciConfig(content), 0o644))
		case "run":
			command, file, _ := strings.Cut(rest, " > ")
			h.commands[command] = file
		case "profile":
			h.profiles = append(h.profiles, wantProfile{name: Profile(rest)})
		default:
			p := &h.profiles[len(h.profiles)-1]
			p.want = append(p.want, line)
		}
	}
	return h
}

// pciConfig is a configuration space whose second capability is PCI Express.
func pciConfig(what string) []byte {
	b := make([]byte, pciConfigBytes)
	b[pciCapabilities] = 0x40
	b[0x40], b[0x41] = 0x01, 0x60 // power management
	b[0x60] = pcieCapability
	var relaxed string
	var read, code uint16
	_, _ = fmt.Sscanf(strings.ReplaceAll(what, "=", " "), "relaxed %s read %d", &relaxed, &read)
	for 128<<code < read {
		code++
	}
	ctl := code << pcieReadShift
	if relaxed == "on" {
		ctl |= pcieRelaxed
	}
	binary.LittleEndian.PutUint16(b[0x60+pcieDeviceCtl:], ctl)
	return b
}

// matches reports whether a finding is the one of a line.
func (f *Finding) matches(line string) bool {
	id, where := f.ID, f.Where
	rest := strings.TrimSpace(strings.TrimPrefix(line, string(f.Severity)))
	if rest == line || !strings.HasPrefix(rest, id+" ") {
		return false
	}
	rest = strings.TrimSpace(rest[len(id):])
	if !strings.HasPrefix(rest+" ", where+" ") {
		return false
	}
	text := strings.TrimSpace(rest[len(where):])
	return strings.Contains(f.What+" "+f.Remedy, text)
}

// TestDoctor: every host of testdata/hosts has exactly the findings that its file
// names, and every finding that is none of "ok" and "note" has a remedy.
func TestDoctor(t *testing.T) {
	files, err := filepath.Glob("testdata/hosts/*.txt")
	require.NoError(t, err)
	require.Greater(t, len(files), 4)
	seen := map[string]bool{}
	for _, file := range files {
		h := readHost(t, file)
		for _, p := range h.profiles {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+string(p.name), func(t *testing.T) {
				got, err := Doctor(context.Background(), DoctorOptions{Root: h.root, Profile: p.name, Runner: h.commands})
				require.NoError(t, err)
				want := slices.Clone(p.want)
				for i := range got {
					f := &got[i]
					seen[f.ID+" "+string(f.Severity)] = true
					k := slices.IndexFunc(want, f.matches)
					require.GreaterOrEqual(t, k, 0, "not expected: %+v", *f)
					want = slices.Delete(want, k, k+1)
					if f.Severity != Good && f.Severity != Note {
						require.NotEmpty(t, f.Remedy, "%+v", *f)
					}
				}
				require.Empty(t, want, "expected and not found")
			})
		}
	}
	for _, id := range []string{"no-device error", "port-down error", "gid error", "mtu warning", "mtu-differs warning", "memlock warning", "pfc warning", "trust warning", "ecn warning",
		"cnp-priority warning", "numa warning", "governor warning", "irqbalance warning", "relaxed-ordering warning", "versions note", "data-dscp warning"} {
		require.True(t, seen[id], "no host has the finding %s", id)
	}
}

func FuzzPCIe(f *testing.F) {
	f.Add(pciConfig("relaxed=on read=4096"))
	f.Add(make([]byte, 64))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, ok := parsePCIe(b); ok && (p.readRequest < 128 || p.readRequest > 16384) {
			t.Fatalf("%+v", p)
		}
	})
}

// TestOffloaded: a device on a PCI bus builds its packets in hardware, one of
// Soft-RoCE does not.
func TestOffloaded(t *testing.T) {
	for file, want := range map[string]bool{"mlx5-lossless": true, "two-rxe": false} {
		list, err := ReadDevices(readHost(t, "testdata/hosts/"+file+".txt").root)
		require.NoError(t, err)
		for i := range list {
			require.Equal(t, want, list[i].Offloaded(), file)
		}
	}
}
