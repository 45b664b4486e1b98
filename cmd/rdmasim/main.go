// Command rdmasim simulates RDMA fabrics from scenario files and draws the
// report of each run.
package main

import (
	"context"
	"os"
	"runtime/debug"
)

func main() {
	debug.SetGCPercent(10) // a run allocates little once it is under way: memory counts for more
	os.Exit(execute(context.Background(), newApp(os.Stdout, os.Stderr), os.Args[1:]))
}
