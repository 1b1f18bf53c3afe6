#!/bin/bash
# NAT rig in network namespaces. Needs root, iproute2, nftables, conntrack. No bridge to the host's network at all.
#   rig.sh up [TYPE TYPE] | down | nat a|b TYPE | cut | heal | exec visitor|agent|srv|nata|natb CMD...
#   TYPE: full (EIM+EIF)  addr (EIM, address-restricted)  port (EIM, port-restricted)  sym (mapping per destination)
#         rej (port, but unsolicited packets get RST/ICMP, as OpenWrt does)   block (no UDP out at all)
# visitor 10.91.1.2 -- nata 203.0.113.10 --\
#                                           br0 (ns P-net) -- srv 203.0.113.1 and .2
# agent   10.91.2.2 -- natb 203.0.113.20 --/
set -euo pipefail
P=${RIG_PREFIX:-rig}
n() { local s=$1; shift; ip netns exec "$P-$s" "$@"; }
wire() { ip link add "$2" netns "$P-$1" type veth peer name "$4" netns "$P-$3"; n "$1" ip link set "$2" up; n "$3" ip link set "$4" up; }
addr() { n "$1" ip addr add "$3" dev "$2"; }
up() {
  local s
  for s in net srv nata natb visitor agent; do ip netns add "$P-$s"; n "$s" ip link set lo up; done
  n net ip link add br0 type bridge; n net ip link set br0 up
  for s in srv nata natb; do wire "$s" wan net "p-$s"; n net ip link set "p-$s" master br0; done
  addr srv wan 203.0.113.1/24; addr srv wan 203.0.113.2/24
  addr nata wan 203.0.113.10/24; addr natb wan 203.0.113.20/24
  wire nata lan visitor eth0; addr nata lan 10.91.1.1/24; addr visitor eth0 10.91.1.2/24
  wire natb lan agent eth0; addr natb lan 10.91.2.1/24; addr agent eth0 10.91.2.2/24
  n visitor ip route add default via 10.91.1.1; n agent ip route add default via 10.91.2.1
  # Kernels that hold little: what stands still behind a reader that stops is seen early.
  for s in srv visitor agent; do n "$s" sysctl -qw net.ipv4.tcp_rmem='4096 131072 1048576' net.ipv4.tcp_wmem='4096 65536 1048576'; done
  for s in nata natb; do n "$s" sysctl -qw net.ipv4.ip_forward=1; done
  nat a "${1:-port}"; nat b "${2:-port}"
}
nat() {
  local s="nat$1" t=$2 host masq='masquerade' dnat='' fwd='' out='' rej=''
  [ "$1" = a ] && host=10.91.1.2 || host=10.91.2.2
  case $t in
    # Linux keeps the source port when it is free, so plain masquerade is endpoint-independent in MAPPING;
    # its FILTERING is conntrack's: only the exact ip:port already written to may answer (port-restricted).
    port) ;;
    full) dnat="iifname wan udp dport 1024-65535 dnat to $host
                iifname wan tcp dport 1024-65535 dnat to $host" ;;
    addr) dnat="iifname wan ip saddr . udp dport @seen dnat to $host"
          out='iifname lan meta l4proto udp update @seen { ip daddr . udp sport }' ;;
    sym)  masq='masquerade fully-random' ;;
    rej)  rej=1 ;;     # port, but the router answers unsolicited packets with ICMP/RST instead of silence (OpenWrt's default)
    block) fwd='meta l4proto udp drop' ;;
    *) echo "unknown nat type $t" >&2; return 2 ;;
  esac
  n "$s" nft -f - <<R
flush ruleset
table ip rig {
  set seen { type ipv4_addr . inet_service; flags dynamic, timeout; timeout 2m; size 65535; }
  chain pre  { type nat hook prerouting priority dstnat; $dnat; }
  chain post { type nat hook postrouting priority srcnat; oifname wan $masq; }
  chain fw   { type filter hook forward priority filter; policy accept; $fwd; $out; ct status dnat accept; iifname wan ct state new drop; }
  # Without this drop an early unsolicited probe leaves a conntrack entry for the router itself, the port then counts
  # as taken and masquerade moves our own later packet to another port: the punch fails although both NATs are EIM.
  chain in   { type filter hook input priority filter; policy accept; ${rej:+iifname wan ct state new meta l4proto tcp reject with tcp reset; iifname wan ct state new reject;} iifname wan ct state new drop; }
}
R
  n "$s" conntrack -F 2>/dev/null
}
# kill only the direct A<->B path; both still reach the server
cut() { n net nft -f - <<< 'add table bridge c; add chain bridge c f { type filter hook forward priority 0; }; add rule bridge c f ip saddr 203.0.113.10 ip daddr 203.0.113.20 drop; add rule bridge c f ip saddr 203.0.113.20 ip daddr 203.0.113.10 drop'; }
heal() { n net nft delete table bridge c 2>/dev/null || true; }
down() { local s; for s in net srv nata natb visitor agent; do ip netns del "$P-$s" 2>/dev/null || true; done; }
c=$1; shift
case $c in up|down|nat|cut|heal) "$c" "$@" ;; exec) n "$@" ;; *) sed -n 2,8p "$0"; exit 2 ;; esac
