# machines-procs.sh PATTERN [SIGNAL]: prints the command lines of this machine that
# match, and sends them the signal.
for p in /proc/[0-9]*; do
	line=$(/bb/tr '\0' ' ' 2> /dev/null < $p/cmdline)
	case $line in
	$1)
		echo "$line"
		[ -z "$2" ] || kill -$2 ${p#/proc/}
		;;
	esac
done
