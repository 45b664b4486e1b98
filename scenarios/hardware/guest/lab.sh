# Two Soft-RoCE devices on a pair of interfaces. The routing policy sends what
# goes from one address to the other over the pair, although both are local;
# without it, nothing would cross a queueing discipline.
#
# LAB_MTU is the MTU of the interfaces. With LAB_PORTS=1 each has a pair of its own,
# roce0 with port0 and roce1 with port1, for a bridge between the ports. Run again,
# it makes the lab anew.
set -e
mtu=${LAB_MTU:-4200}
for i in 0 1; do
	[ -d /sys/class/infiniband/rxe$i ] && rdma link del rxe$i
	[ -d /sys/class/net/roce$i ] && ip link del roce$i
	ip rule del lookup $((101+i)) 2> /dev/null || true
done
if [ -n "$LAB_PORTS" ]; then
	ip link add roce0 type veth peer name port0
	ip link add roce1 type veth peer name port1
	ip link set port0 mtu $mtu up
	ip link set port1 mtu $mtu up
else
	ip link add roce0 type veth peer name roce1
fi
for i in 0 1; do
	ip link set roce$i address 02:00:00:00:07:0$((i+1)) mtu $mtu up
	ip addr add 10.7.0.$((i+1))/24 dev roce$i
	for k in accept_local=1 rp_filter=0 arp_ignore=1; do
		echo ${k#*=} > /proc/sys/net/ipv4/conf/roce$i/${k%=*}
	done
done
echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter
for i in 0 1; do
	own=10.7.0.$((i+1)) peer=10.7.0.$((2-i))
	ip neigh replace $peer lladdr 02:00:00:00:07:0$((2-i)) dev roce$i nud permanent
	ip route add $peer dev roce$i src $own table $((101+i))
	ip rule add pref 10 iif lo from $own to $peer lookup $((101+i))
done
if ip rule show | grep -q '^0:'; then
	ip rule add pref 100 lookup local
	ip rule del pref 0
fi
for i in 0 1; do
	rdma link add rxe$i type rxe netdev roce$i
done
