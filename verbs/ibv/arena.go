//go:build linux && (amd64 || arm64)

package ibv

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"rdmasim/verbs"
)

// Memory is memory outside the Go heap, page aligned, as a NIC needs it: the
// collector neither moves nor frees it.
type Memory struct {
	Bytes []byte
	Huge  bool // made of huge pages
}

// hugePage is the size of a huge page on the processors supported.
const hugePage = 2 << 20

// NewMemory returns n bytes of zeroed memory. With huge it asks for huge pages,
// and says so in the result where the host has some free.
func NewMemory(n int, huge bool) (*Memory, error) {
	if n <= 0 {
		return nil, fmt.Errorf("%w: %d bytes of memory", verbs.ErrInvalid, n)
	}
	const flags = syscall.MAP_PRIVATE | syscall.MAP_ANONYMOUS
	if huge {
		size := (n + hugePage - 1) / hugePage * hugePage
		if b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, flags|syscall.MAP_HUGETLB|syscall.MAP_POPULATE); err == nil {
			return &Memory{Bytes: b[:n:size], Huge: true}, nil
		}
	}
	page := syscall.Getpagesize()
	size := (n + page - 1) / page * page
	b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, flags)
	if err != nil {
		return nil, fmt.Errorf("mmap of %d bytes: %w", size, err)
	}
	return &Memory{Bytes: b[:n:size]}, nil
}

// Addr returns the address of the first byte.
func (m *Memory) Addr() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(m.Bytes))) }

// Free gives the memory back. No region may be registered on it any more.
func (m *Memory) Free() error {
	if m.Bytes == nil {
		return nil
	}
	b := m.Bytes[:cap(m.Bytes)]
	m.Bytes = nil
	return syscall.Munmap(b)
}

// arenaOf returns n structs outside the heap, to hand work requests to C.
func arenaOf[T any](n int) ([]T, *Memory, error) {
	var t T
	m, err := NewMemory(n*int(unsafe.Sizeof(t)), false)
	if err != nil {
		return nil, nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(m.Bytes))), n), m, nil
}

// withC calls f with a value that lies outside the heap, and its address for C.
func withC[T any](v T, f func(p *T, addr uintptr) error) error {
	s, m, err := arenaOf[T](1)
	if err != nil {
		return err
	}
	s[0] = v
	return errors.Join(f(&s[0], m.Addr()), m.Free())
}
