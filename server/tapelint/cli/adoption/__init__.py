"""What a team needs to adopt tapelint in code that has findings already: counts of them, levels at which a run fails,
and a baseline of what is known.
"""
