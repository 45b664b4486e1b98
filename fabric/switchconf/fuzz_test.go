package switchconf_test

import (
	"os"
	"path/filepath"
	"testing"

	"rdmasim/fabric/switchconf"
)

// Whatever stands in a file, reading it ends with a value or one error.
func FuzzConfigDB(f *testing.F) {
	names, _ := filepath.Glob("testdata/*.json")
	for _, n := range names {
		data, err := os.ReadFile(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"BUFFER_PG": {"a,b|3-4": {"profile": "[BUFFER_PROFILE|pg_lossless_100000_40m_profile]"}}, "PORT_QOS_MAP": {"a": {"pfc_enable": "3,4"}}}`))
	f.Add([]byte(`"CABLE_LENGTH": {"AZURE": {"é": "5m"}},`))
	f.Fuzz(func(t *testing.T, data []byte) {
		im, err := switchconf.ReadSONiC([]switchconf.File{{Name: "x", Data: data}}, switchconf.Options{Platform: "th"})
		if (im == nil) != (err != nil) {
			t.Fatal("neither a value nor an error, or both")
		}
		if im == nil {
			return
		}
		for _, x := range im.Fields {
			if x.Doc == "" || x.Status == "" {
				t.Fatalf("nothing is said about %v", x.From)
			}
		}
	})
}

func FuzzLookup(f *testing.F) {
	data, err := os.ReadFile("testdata/pg_profile_lookup.ini")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("# cable speed xon xoff size threshold\n5m 100000 1 2 3 0"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := switchconf.ReadLookup(switchconf.File{Name: "x.ini", Data: data})
		if (len(rows) == 0) != (err != nil) {
			t.Fatal("neither rows nor an error, or both")
		}
	})
}
