"""A drive's own commands, byte by byte: NVMe admin, SCSI, and ATA inside SCSI.

Each goes out on the claimed descriptor through `seam.ioctl`, and nowhere else: no node is opened
by name, so that a command reaches the drive that was examined, and no other.
"""
