"""Oracle ORION's test: small random and large I/Os at growing loads, apart and together."""
