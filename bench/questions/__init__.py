"""Benchmarks of one question each; see the README of this folder."""
