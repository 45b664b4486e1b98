package capture

import (
	"encoding/binary"
	"errors"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// Layer types, registered with gopacket: UDP port 4791 is followed by a BTH,
// EtherType 0x8915 by a GRH, EtherType 0x8808 by a pause frame, and link type
// 247 begins with an LRH.
var (
	LayerTypeBTH          = gopacket.RegisterLayerType(1791, gopacket.LayerTypeMetadata{Name: "BTH", Decoder: gopacket.DecodeFunc(decodeTransport)})
	LayerTypeRDETH        = register(1792, "RDETH")
	LayerTypeDETH         = register(1793, "DETH")
	LayerTypeRETH         = register(1794, "RETH")
	LayerTypeAtomicETH    = register(1795, "AtomicETH")
	LayerTypeAETH         = register(1796, "AETH")
	LayerTypeAtomicAckETH = register(1797, "AtomicAckETH")
	LayerTypeImmDt        = register(1798, "ImmDt")
	LayerTypeIETH         = register(1799, "IETH")
	LayerTypeICRC         = register(1800, "ICRC")
	LayerTypePause        = gopacket.RegisterLayerType(1801, gopacket.LayerTypeMetadata{Name: "Pause", Decoder: gopacket.DecodeFunc(decodePause)})
	LayerTypeGRH          = gopacket.RegisterLayerType(1802, gopacket.LayerTypeMetadata{Name: "GRH", Decoder: gopacket.DecodeFunc(decodeGRH)})
	LayerTypeLRH          = gopacket.RegisterLayerType(1803, gopacket.LayerTypeMetadata{Name: "LRH", Decoder: gopacket.DecodeFunc(decodeLRH)})
)

// register registers a layer that only a BTH tells the place of.
func register(number int, name string) gopacket.LayerType {
	return gopacket.RegisterLayerType(number, gopacket.LayerTypeMetadata{Name: name,
		Decoder: gopacket.DecodeFunc(func([]byte, gopacket.PacketBuilder) error {
			return errors.New(name + " is decoded by the BTH in front of it")
		})})
}

func init() {
	layers.RegisterUDPPortLayerType(RoCEv2Port, LayerTypeBTH)
	layers.EthernetTypeMetadata[EtherTypeRoCEv1] = layers.EnumMetadata{DecodeWith: LayerTypeGRH, Name: "RoCEv1", LayerType: LayerTypeGRH}
	layers.EthernetTypeMetadata[EtherTypeMACControl] = layers.EnumMetadata{DecodeWith: LayerTypePause, Name: "MACControl", LayerType: LayerTypePause}
	layers.LinkTypeMetadata[LinkInfiniBand&0xff] = layers.EnumMetadata{DecodeWith: LayerTypeLRH, Name: "InfiniBand", LayerType: LayerTypeLRH}
}

// ExtendedLayer is one extended header as a layer: Header is a *RETH, *AETH
// and so on, by its LayerType.
type ExtendedLayer struct {
	layers.BaseLayer
	Header any
	kind   gopacket.LayerType
}

// LayerType returns the type that the header was registered as.
func (l *ExtendedLayer) LayerType() gopacket.LayerType { return l.kind }

// extLayers are the layer types of extended headers, by bit of Ext.
var extLayers = [8]gopacket.LayerType{LayerTypeRDETH, LayerTypeDETH, LayerTypeRETH, LayerTypeAtomicETH, LayerTypeAETH, LayerTypeAtomicAckETH, LayerTypeImmDt, LayerTypeIETH}

// BTHLayer is a base transport header with its extended headers, which are
// also layers of their own.
type BTHLayer struct {
	layers.BaseLayer
	BTH
	Ext Extended // those that Opcode.Info().Ext names
}

// LayerType returns LayerTypeBTH.
func (l *BTHLayer) LayerType() gopacket.LayerType { return LayerTypeBTH }

// CanDecode returns LayerTypeBTH.
func (l *BTHLayer) CanDecode() gopacket.LayerClass { return LayerTypeBTH }

// NextLayerType returns the payload's: a DecodingLayerParser finds the extended
// headers in Ext, and the ICRC at the end of the payload.
func (l *BTHLayer) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

// DecodeFromBytes reads the header and its extended headers.
func (l *BTHLayer) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < SizeBTH {
		df.SetTruncated()
		return errors.New("BTH is cut off")
	}
	l.BTH.decode(data)
	set := l.Opcode.Info().Ext
	n := set.Size()
	if l.Ext.decode(set, data[SizeBTH:]) != set {
		df.SetTruncated()
		return errors.New("the extended headers of " + l.Opcode.String() + " are cut off")
	}
	l.Contents, l.Payload = data[:SizeBTH+n], data[SizeBTH+n:]
	return nil
}

// SerializeTo writes the header and the extended headers of its opcode. With
// FixLengths, Pad is what makes the payload behind it a multiple of 4 bytes, and
// the padding is added. An ICRCLayer without a value belongs behind the payload.
func (l *BTHLayer) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	set := l.Opcode.Info().Ext
	if opts.FixLengths {
		l.Pad = uint8(-len(b.Bytes()) & 3)
		if l.Pad > 0 {
			if _, err := b.AppendBytes(int(l.Pad)); err != nil {
				return err
			}
			clear(b.Bytes()[len(b.Bytes())-int(l.Pad):])
		}
	}
	p, err := b.PrependBytes(SizeBTH + set.Size())
	if err != nil {
		return err
	}
	l.BTH.encode(p)
	copy(p[SizeBTH:], l.Ext.encode(set, nil))
	return nil
}

// ICRCLayer is the invariant CRC at the end of a packet.
type ICRCLayer struct {
	layers.BaseLayer
	ICRC uint32
}

// LayerType returns LayerTypeICRC.
func (l *ICRCLayer) LayerType() gopacket.LayerType { return LayerTypeICRC }

// SerializeTo writes the CRC as it is; SealICRC computes it when the packet is
// complete.
func (l *ICRCLayer) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	p, err := b.PrependBytes(SizeICRC)
	if err == nil {
		binary.LittleEndian.PutUint32(p, l.ICRC)
	}
	return err
}

// decodeTransport adds a BTH, its extended headers, the payload and the ICRC.
func decodeTransport(data []byte, p gopacket.PacketBuilder) error {
	l := &BTHLayer{}
	if err := l.DecodeFromBytes(data, p); err != nil {
		return err
	}
	body := l.Payload
	at := SizeBTH
	l.Contents = data[:SizeBTH]
	p.AddLayer(l)
	set := l.Opcode.Info().Ext
	for i, size := range extSizes {
		if set&(1<<i) != 0 {
			x := &ExtendedLayer{kind: extLayers[i], Header: l.Ext.header(i)}
			x.Contents, x.Payload = data[at:at+size], data[at+size:]
			p.AddLayer(x)
			at += size
		}
	}
	if len(body) < SizeICRC {
		p.SetTruncated()
		return errors.New("ICRC is cut off")
	}
	end := len(body) - SizeICRC
	cm := &CMLayer{}
	if l.DestQP == GSI && l.Opcode == OpcodeUDSendOnly && end >= SizeMAD && cm.decodeMAD(body) {
		cm.Contents = body[:SizeMAD]
		p.AddLayer(cm)
	} else if keep := end - int(l.Pad); keep > 0 {
		payload := gopacket.Payload(body[:keep])
		p.AddLayer(&payload)
		p.SetApplicationLayer(&payload)
	}
	crc := &ICRCLayer{ICRC: binary.LittleEndian.Uint32(body[end:])}
	crc.Contents = body[end:]
	p.AddLayer(crc)
	return nil
}

// PauseLayer is a MAC control frame.
type PauseLayer struct {
	layers.BaseLayer
	Pause
}

// LayerType returns LayerTypePause.
func (l *PauseLayer) LayerType() gopacket.LayerType { return LayerTypePause }

// CanDecode returns LayerTypePause.
func (l *PauseLayer) CanDecode() gopacket.LayerClass { return LayerTypePause }

// NextLayerType returns that nothing follows.
func (l *PauseLayer) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes reads what follows the EtherType.
func (l *PauseLayer) DecodeFromBytes(data []byte, _ gopacket.DecodeFeedback) error {
	if !l.Pause.decode(data) {
		return errors.New("MAC control frame that is no pause")
	}
	l.Contents, l.Payload = data[:l.size()], nil
	return nil
}

// SerializeTo writes opcode, classes and times.
func (l *PauseLayer) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	p, err := b.PrependBytes(l.size())
	if err == nil {
		l.encode(p)
	}
	return err
}

func decodePause(data []byte, p gopacket.PacketBuilder) error {
	l := &PauseLayer{}
	if err := l.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(l)
	return nil
}

// GRHLayer is a global routing header.
type GRHLayer struct {
	layers.BaseLayer
	GRH
}

// LayerType returns LayerTypeGRH.
func (l *GRHLayer) LayerType() gopacket.LayerType { return LayerTypeGRH }

// SerializeTo writes the header; with FixLengths, Length is that of what follows
// and of an ICRC.
func (l *GRHLayer) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	if opts.FixLengths {
		l.Length = uint16(len(b.Bytes()) + SizeICRC)
	}
	p, err := b.PrependBytes(SizeGRH)
	if err == nil {
		l.encode(p)
	}
	return err
}

func decodeGRH(data []byte, p gopacket.PacketBuilder) error {
	if len(data) < SizeGRH {
		p.SetTruncated()
		return errors.New("GRH is cut off")
	}
	l := &GRHLayer{}
	l.GRH.decode(data)
	end := min(SizeGRH+int(l.Length), len(data))
	l.Contents, l.Payload = data[:SizeGRH], data[SizeGRH:end]
	p.AddLayer(l)
	if l.Next != GRHNextBTH {
		return p.NextDecoder(gopacket.LayerTypePayload)
	}
	return p.NextDecoder(LayerTypeBTH)
}

// LRHLayer is a local routing header of InfiniBand.
type LRHLayer struct {
	layers.BaseLayer
	LRH
}

// LayerType returns LayerTypeLRH.
func (l *LRHLayer) LayerType() gopacket.LayerType { return LayerTypeLRH }

func decodeLRH(data []byte, p gopacket.PacketBuilder) error {
	if len(data) < SizeLRH {
		p.SetTruncated()
		return errors.New("LRH is cut off")
	}
	l := &LRHLayer{}
	l.LRH.decode(data)
	end := min(max(int(l.Words)*4, SizeLRH), len(data))
	l.Contents, l.Payload = data[:SizeLRH], data[SizeLRH:end]
	p.AddLayer(l)
	switch l.Next {
	case LinkGRH:
		return p.NextDecoder(LayerTypeGRH)
	case LinkLocal:
		return p.NextDecoder(LayerTypeBTH)
	}
	return p.NextDecoder(gopacket.LayerTypePayload)
}
