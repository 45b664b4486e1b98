package guest

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"strings"
)

// modules are what the lab needs of a kernel that has nearly all of it as
// modules: the shared folder, Soft-RoCE, a pair of interfaces, and every
// queueing discipline and filter by which faults are injected.
var modules = []string{
	"virtio_pci", "virtio_net", "9p", "9pnet_virtio",
	"crc32_generic", "crc32c_generic", "rdma_rxe", "ib_uverbs", "rdma_ucm",
	"veth", "bridge", "8021q", "dummy", "ifb",
	"sch_netem", "sch_prio", "sch_ets", "sch_tbf", "sch_ingress", "cls_u32", "cls_flower", "cls_matchall", "cls_bpf", "act_mirred", "act_gact", "act_skbedit",
	"nf_tables", "nft_numgen", "nft_limit", "nft_counter", "nft_compat", "nft_meta_bridge", "br_netfilter",
}

// loadOrder returns the module files, folders of the kernel's tree, in an order
// in which each comes after those that it depends on. dep is modules.dep.
// A module that the kernel has built in, or lacks, is left out and reported.
func loadOrder(dep io.Reader, want []string) (files, missing []string, err error) {
	needs := map[string][]string{}
	byName := map[string]string{}
	sc := bufio.NewScanner(dep)
	sc.Buffer(make([]byte, 1<<20), 1<<20)
	for sc.Scan() {
		file, rest, ok := strings.Cut(sc.Text(), ":")
		if !ok {
			return nil, nil, fmt.Errorf("modules.dep: a line without a colon: %q", sc.Text())
		}
		needs[file] = strings.Fields(rest)
		name, _, _ := strings.Cut(path.Base(file), ".ko")
		byName[strings.ReplaceAll(name, "-", "_")] = file
	}
	if err := sc.Err(); err != nil {
		return nil, nil, err
	}
	done := map[string]bool{}
	var add func(file string)
	add = func(file string) {
		if done[file] {
			return
		}
		done[file] = true
		// depmod lists dependencies nearest first.
		d := needs[file]
		for i := len(d) - 1; i >= 0; i-- {
			add(d[i])
		}
		files = append(files, file)
	}
	for _, m := range want {
		file, ok := byName[m]
		if !ok {
			missing = append(missing, m)
			continue
		}
		add(file)
	}
	return files, missing, nil
}
