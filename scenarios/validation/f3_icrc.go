package validation

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"rdmasim/fabric/capture"
)

var _ = register("F3", Row{
	Title: "ICRC of two published frames",
	Hard:  true,
	Explain: `CRC-32 over eight bytes of ones, the IP header with TOS, TTL and checksum set to ones, UDP with its checksum set to ones,
BTH with byte 4 set to ones, and the rest. The two frames were captured from adapters: a CNP and a SEND. Changes that
routers make leave the ICRC as it is. Frames with other payloads, and of IPv6, are held against a CRC that goes bit by bit.
Source: InfiniBand Architecture, volume 1, section 7.8.1 and annex A17.3.`,
	Measure: measureICRC,
})

// The IP packets of the published frames, without their ICRC.
const (
	publishedCNP  = "45c2003c718c4000401191610a0011010a001201000012b7002800008100ffff400001180000000000000000000000000000000000000000"
	publishedSend = "45010040047840004011b4d5c0a80007c0a80007c00012b7002c00002460ffff000000d300cf17104630818be28935d90e9a95505401be885e500000"
)

func measureICRC(b *Bench) error {
	cnp, err := hex.DecodeString(publishedCNP)
	if err != nil {
		return err
	}
	send, err := hex.DecodeString(publishedSend)
	if err != nil {
		return err
	}
	const annex = "IBA annex A17.3"
	b.Exact("a CNP of a ConnectX-4 Lx", "82fd002a", icrcOf(cnp), "captures of adapters; "+annex)
	b.Exact("a SEND on an unreliable connection", "78f353f3", icrcOf(send), "captures of adapters; "+annex)
	for _, c := range []struct {
		what string
		at   int
		with byte
	}{{"CE set on the way", 1, send[1] | 3}, {"TTL 3 at the end", 8, 3}, {"UDP checksum filled in", 26, 0x5a}, {"FECN set on the way", 32, 0x80}} {
		m := append([]byte(nil), send...)
		m[c.at] = c.with
		b.Exact("the SEND, "+c.what, "78f353f3", icrcOf(m), annex)
	}
	for _, n := range []int{0, 1, 64, 1024, 4096} {
		m := append([]byte(nil), send[:40]...)
		for i := range n {
			m = append(m, byte(i*37))
		}
		binary.BigEndian.PutUint16(m[2:], uint16(len(m)+4))
		b.Exact(fmt.Sprintf("%d B behind the BTH", n), slowICRC(m, 20, []int{1, 8, 10, 11}), icrcOf(m), annex)
		six := append(make([]byte, 40), m[20:]...)
		six[0], six[6], six[7] = 0x60, 17, 64
		binary.BigEndian.PutUint16(six[4:], uint16(len(six)-40+4))
		for i := 8; i < 40; i++ {
			six[i] = byte(i * 11)
		}
		b.Exact(fmt.Sprintf("%d B behind the BTH, IPv6", n), slowICRC(six, 40, []int{1, 2, 3, 7}), icrcOf(six), annex)
	}
	return nil
}

// icrcOf returns the ICRC that capture writes behind an IP packet, in the order
// of its bytes on the wire.
func icrcOf(ip []byte) string {
	out, ok := capture.AppendICRC(append([]byte(nil), ip...))
	if !ok {
		return "not a RoCEv2 packet"
	}
	return hex.EncodeToString(out[len(ip):])
}

// slowICRC is the CRC of the standard, bit by bit: masked are the bytes of the
// IP header that count as ones.
func slowICRC(ip []byte, header int, masked []int) string {
	m := append([]byte{255, 255, 255, 255, 255, 255, 255, 255}, ip...)
	for _, i := range masked {
		m[8+i] = 255
	}
	if ip[0]>>4 == 6 {
		m[8] |= 0x0f // the upper half of the traffic class
	}
	m[8+header+6], m[8+header+7], m[8+header+8+4] = 255, 255, 255
	crc := ^uint32(0)
	for _, x := range m {
		crc ^= uint32(x)
		for range 8 {
			carry := crc & 1
			crc >>= 1
			if carry == 1 {
				crc ^= 0xedb88320
			}
		}
	}
	var out [4]byte
	binary.LittleEndian.PutUint32(out[:], ^crc)
	return hex.EncodeToString(out[:])
}
