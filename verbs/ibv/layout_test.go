//go:build linux && amd64

package ibv

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// layouts pairs our structs with those of the header. Sizes are compared where
// the struct is complete.
var layouts = []struct {
	c    string
	ours any
	head bool // only the first fields are mirrored
}{
	{"ibv_qp_cap", qpCap{}, false}, {"ibv_qp_init_attr", qpInitAttr{}, false}, {"ibv_global_route", globalRoute{}, false},
	{"ibv_ah_attr", ahAttr{}, false}, {"ibv_qp_attr", qpAttr{}, false}, {"ibv_sge", sge{}, false}, {"ibv_send_wr", sendWR{}, false},
	{"ibv_recv_wr", recvWR{}, false}, {"ibv_wc", workCompletion{}, false}, {"ibv_port_attr", portAttr{}, false},
	{"ibv_device_attr", deviceAttr{}, false}, {"ibv_srq_init_attr", srqInitAttr{}, false}, {"ibv_async_event", asyncEvent{}, false},
	{"ibv_context", objContext{}, true}, {"ibv_qp", objQP{}, true}, {"ibv_cq", objCQ{}, true}, {"ibv_mr", objMR{}, true},
	{"ibv_comp_channel", objChannel{}, false},
}

// headers returns a folder with infiniband/verbs.h: of this machine, or else from
// Debian's package libibverbs-dev, which is unpacked and not installed.
func headers(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat("/usr/include/infiniband/verbs.h"); err == nil {
		return "/usr/include"
	}
	return unpackedHeaders(t)
}

func unpackedHeaders(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	script := "apt-get download libibverbs-dev || { apt-get update && apt-get download libibverbs-dev; } && dpkg-deb -x libibverbs-dev_*.deb root"
	c := exec.CommandContext(ctx, "sh", "-c", script)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Skipf("skipped: libibverbs-dev is neither installed nor to be had, so that struct layouts were not checked: %v: %s", err, out)
	}
	return filepath.Join(dir, "root/usr/include")
}

// TestUnpackedHeaders: what machines without the package compare with is that of
// the package.
func TestUnpackedHeaders(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: fetches a package")
	}
	require.FileExists(t, filepath.Join(unpackedHeaders(t), "infiniband/verbs.h"))
}

// TestLayout compares every field of every struct with the real header.
func TestLayout(t *testing.T) {
	include := headers(t)
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("skipped: there is no C compiler, so that struct layouts were not checked")
	}
	var src, want strings.Builder
	src.WriteString("#include <stdio.h>\n#include <stddef.h>\n#include <infiniband/verbs.h>\n#define F(s,f) printf(\"%s.%s %zu %zu\\n\",#s,#f,offsetof(struct s,f),sizeof(((struct s*)0)->f))\nint main(void){\n")
	for _, l := range layouts {
		typ := reflect.TypeOf(l.ours)
		for i := range typ.NumField() {
			f := typ.Field(i)
			name := f.Tag.Get("c")
			if name == "" {
				continue
			}
			fmt.Fprintf(&src, "F(%s,%s);\n", l.c, name)
			fmt.Fprintf(&want, "%s.%s %d %d\n", l.c, name, f.Offset, f.Type.Size())
		}
		if !l.head {
			fmt.Fprintf(&src, "printf(\"%s %%zu\\n\", sizeof(struct %s));\n", l.c, l.c)
			fmt.Fprintf(&want, "%s %d\n", l.c, typ.Size())
		}
	}
	for name, i := range map[string]int{"poll_cq": opPollCQ, "req_notify_cq": opReqNotifyCQ, "post_srq_recv": opPostSRQRecv, "post_send": opPostSend, "post_recv": opPostRecv} {
		fmt.Fprintf(&src, "F(ibv_context_ops,%s);\n", name)
		fmt.Fprintf(&want, "ibv_context_ops.%s %d 8\n", name, i*8)
	}
	src.WriteString("return 0;}\n")
	dir := t.TempDir()
	c := filepath.Join(dir, "layout.c")
	require.NoError(t, os.WriteFile(c, []byte(src.String()), 0o600))
	out, err := exec.Command(cc, "-I", include, "-o", filepath.Join(dir, "layout"), c).CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(filepath.Join(dir, "layout")).Output()
	require.NoError(t, err)
	require.Equal(t, want.String(), string(out))
}
