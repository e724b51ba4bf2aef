"""tiotest and tiobench as methods: threads with a file each, in order and at random."""
