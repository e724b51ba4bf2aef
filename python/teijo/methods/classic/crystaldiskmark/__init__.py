"""CrystalDiskMark's test, as versions 3, 5 and 8 do it, and the same without its defects."""
