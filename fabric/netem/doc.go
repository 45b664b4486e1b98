// Package netem injects faults into the network of a real Linux host, verifies
// that they acted, and takes them away again. It runs tc, ip and nft, so that
// every change of the host is a command that can be printed, tried by hand, and
// undone; libraries lack loss models, ECN or the seed of netem.
//
// netem acts on what passes the kernel's queues. An RDMA device that builds its
// packets in hardware bypasses them: Device.Offloaded tells, and Plan refuses.
package netem
