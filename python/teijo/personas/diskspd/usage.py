"""What DiskSpd's options are, in Teijo's words: the original's own help is longer."""

from typing import Final

USAGE: Final = """
Usage: diskspd [options] target1 [ target2 [ target3 ...] ]
version 2.2.0 (2024/6/3)

Targets: file paths, block devices, simulated devices (sim:NAME).
Sizes are bytes, or have a suffix of KMGT, or b for blocks (-b).

  -?             this text
  -a, -ag, -n    no thread is bound to a processor: use taskset
  -b<size>       block size [64K]
  -B<base>[:len] range of the target: where it begins, and how long it is
  -c<size>       make file targets of this size
  -C<seconds>    cool down time [0]
  -d<seconds>    duration [10]
  -D<ms>         IOPS and their deviation in intervals [1000]
  -f<size>       end of the range of the target
  -F<count>      threads over all targets (not with -t)
  -L             latency statistics
  -o<count>      outstanding I/Os of each thread for each target [2]
  -O<count>      outstanding I/Os of each thread (with -F)
  -r[align]      random I/O on a grid [block size]
  -R[p]<format>  text or xml; with p the profile alone, without a run
  -s[i]          sequential I/O [default]; with i all threads share one offset
  -S[bhuw]       caches: b all [default], u not the file's, w write-through, h both (u and w)
  -t<count>      threads of each target [1]
  -T<size>       distance between the first offsets of threads
  -v             verbose
  -w<percent>    share of writes [0]
  -W<seconds>    warm up time [5]
  -x             completion routines: the same ring here
  -z[seed]       seed of the offsets [0]
  -Z             write zeros;  -Zr  fresh random data;  -Z<size>  from a random buffer
                 [default: bytes 0 to 255 over and over]

Of the original, and not here: -e -f<rst> -g -i -I -j -l -N -p -P -rd -rs -Sm -Sr -vs -X -y

"""
