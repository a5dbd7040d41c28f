"""Ray, as far as `ray.tune` runs a class in one process."""
