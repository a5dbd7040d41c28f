"""Edits real files at random, thousands of times, and compares what goes on from the last analysis with a fresh one."""
