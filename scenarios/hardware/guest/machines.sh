# One of several machines: an interface for ssh, mgmt0, and two for RDMA, roce0 and
# roce1, on a wire of their own. The first machine may log in on all, itself
# included, with a key that is made now; only public keys leave a machine, through
# the shared folder.
set -e
. /machine
hostname $self
mtu=${LAB_MTU:-1500}
mac() { printf '02:00:00:00:%02x:%02x' $1 $2; }
for dev in /sys/class/net/eth*; do
	read -r a < $dev/address
	dev=${dev##*/}
	case $a in
	$(mac 8 $((number+1)))) ip link set $dev name mgmt0 ;;
	$(mac 7 $((2*number+1)))) ip link set $dev name roce0 ;;
	$(mac 7 $((2*number+2)))) ip link set $dev name roce1 ;;
	esac
done
ip link set mgmt0 up
ip addr add 10.8.0.$((number+1))/24 dev mgmt0
echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter
for i in 0 1; do
	ip link set roce$i mtu $mtu up
	ip addr add 10.7.0.$((2*number+i+1))/24 dev roce$i
	for k in accept_local=1 rp_filter=0 arp_ignore=1 arp_announce=2; do
		echo ${k#*=} > /proc/sys/net/ipv4/conf/roce$i/${k%=*}
	done
	# Each device has a way of its own to every other.
	k=0
	for m in $machines $machines; do
		k=$((k+1))
		[ $k = $((2*number+i+1)) ] || ip neigh replace 10.7.0.$k lladdr $(mac 7 $k) dev roce$i nud permanent
	done
done
# What goes from one device of this machine to the other crosses the wire.
for i in 0 1; do
	own=10.7.0.$((2*number+i+1)) peer=10.7.0.$((2*number+2-i))
	ip route add $peer dev roce$i src $own table $((101+i))
	ip rule add pref 10 iif lo from $own to $peer lookup $((101+i))
done
ip rule add pref 100 lookup local
ip rule del pref 0
for i in 0 1; do
	rdma link add rxe$i type rxe netdev roce$i
done

mkdir -p /etc/ssh /root/.ssh /run/sshd /var/empty
chmod 700 /root /root/.ssh
key=/etc/ssh/ssh_host_ed25519_key
ssh-keygen -q -t ed25519 -N '' -f $key
# Without this choice half of the time of a login is post-quantum arithmetic.
printf 'Host *\n\tKexAlgorithms curve25519-sha256\n\tBatchMode yes\n' > /root/.ssh/config
await() { until [ -s $1 ]; do sleep 0.2; done; }
if [ $number = 0 ]; then
	ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519
	cp /root/.ssh/id_ed25519.pub /root/.ssh/authorized_keys
	echo "$self $(cat $key.pub)" > /root/.ssh/known_hosts
	for m in $machines; do
		[ $m = $self ] || cp /root/.ssh/id_ed25519.pub /share/$m/user.tmp
		[ $m = $self ] || mv /share/$m/user.tmp /share/$m/user.pub
	done
else
	cp $key.pub /share/host.tmp
	mv /share/host.tmp /share/host.pub
	await /share/user.pub
	cp /share/user.pub /root/.ssh/authorized_keys
fi
/usr/sbin/sshd -f /dev/null -h $key -o ListenAddress=10.8.0.$((number+1)) -o PasswordAuthentication=no -o PidFile=none
if [ $number = 0 ]; then
	for m in $machines; do
		[ $m = $self ] && continue
		await /share/$m/host.pub
		echo "$m $(cat /share/$m/host.pub)" >> /root/.ssh/known_hosts
		until ssh -o BatchMode=yes -o ConnectTimeout=2 $m true; do sleep 1; done
		rm -f /share/$m/host.pub /share/$m/user.pub
	done
fi
