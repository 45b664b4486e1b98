// Package ibv is a NIC made of libibverbs: verbs on real hardware and on
// Soft-RoCE. The library is loaded at run time, so that the same binary runs
// where there is none and says so. Linux only; elsewhere Open returns
// verbs.ErrNotSupported.
package ibv
