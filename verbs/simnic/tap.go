package simnic

import "rdmasim/fabric"

// SetTap shows the frames of all ports to a tap.
func (n *NIC) SetTap(t fabric.Tap) {
	for i := range n.ports {
		n.ports[i].SetTap(n.node, i, t)
	}
}
