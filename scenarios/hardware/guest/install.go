package guest

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// CanInstall reports whether this process may install Debian packages.
func CanInstall() bool {
	_, err := exec.LookPath("apt-get")
	return err == nil && os.Geteuid() == 0
}

// Install installs Packages, where any is missing, from Debian's repository.
func Install(ctx context.Context, log io.Writer) error {
	if _, err := hostFiles(); err == nil {
		return nil
	}
	fmt.Fprintf(log, "guest: installing %d Debian packages\n", len(Packages))
	if err := command(ctx, "/", "apt-get", "update"); err != nil {
		fmt.Fprintf(log, "guest: %v\n", err) // the lists may be there all the same
	}
	args := append([]string{"install", "-y", "--no-install-recommends"}, Packages...)
	c := exec.CommandContext(ctx, "apt-get", args...)
	c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get install: %w: %s", err, out)
	}
	return nil
}
