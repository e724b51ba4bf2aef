#!/bin/busybox sh
# The guest's first process: mounts what a system has, then the disk with Teijo, and starts the
# agent that does what the tests ask for. When the agent ends, so does the machine.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 LC_ALL=C.UTF-8
export PYTHONPATH=/teijo/python:/teijo:/opt/teijo PYTHONDONTWRITEBYTECODE=1
mount -t proc proc /proc
mount -t sysfs sys /sys
mkdir -p /dev/pts /dev/shm /run /tmp
mount -t devpts devpts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t tmpfs run /run
mount -t tmpfs tmp /tmp
ln -sf /proc/self/fd /dev/fd
ip link set lo up
echo guest >/proc/sys/kernel/hostname
echo 1 >/proc/sys/kernel/sysrq
for module in virtio_console virtio_rng configfs nvme sd_mod sg; do modprobe $module; done
mount -t configfs configfs /sys/kernel/config
mount -t ext4 -o ro /dev/vdb /teijo
cd /root
python3 /teijo/tests/guest/agent.py
echo "the agent has ended: $?" >/dev/console
poweroff -f
