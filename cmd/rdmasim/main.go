// Command rdmasim simulates RDMA fabrics from scenario files and draws the
// report of each run.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(execute(context.Background(), newApp(os.Stdout, os.Stderr), os.Args[1:]))
}
