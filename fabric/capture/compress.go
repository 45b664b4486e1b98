package capture

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"fmt"
	"io"
)

// unpacked returns what a compressed capture holds, or r itself where it is not
// compressed. Formats that are known and not unpacked are named in the error.
func unpacked(r *bufio.Reader) (*bufio.Reader, error) {
	head, _ := r.Peek(4)
	var in io.Reader
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("a gzip file with a damaged head: %w", err)
		}
		in = z
	case bytes.HasPrefix(head, []byte("BZh")):
		in = bzip2.NewReader(r)
	case bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return nil, fmt.Errorf("compressed by zstd: unpack it, as with zstd -dc FILE | rdmasim pcap -")
	case bytes.Equal(head, []byte{0x04, 0x22, 0x4d, 0x18}):
		return nil, fmt.Errorf("compressed by lz4: unpack it, as with lz4 -dc FILE | rdmasim pcap -")
	case bytes.Equal(head, []byte{0xfd, '7', 'z', 'X'}):
		return nil, fmt.Errorf("compressed by xz: unpack it, as with xz -dc FILE | rdmasim pcap -")
	default:
		return r, nil
	}
	return bufio.NewReaderSize(in, readBuffer), nil
}
