"""Oracle ORION as it was: its command line, its .lun file, its console texts and its files."""
