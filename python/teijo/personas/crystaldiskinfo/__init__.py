"""CrystalDiskInfo's text of what is known of drives, in its basic form."""
