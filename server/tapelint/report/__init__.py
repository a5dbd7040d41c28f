"""Findings as data, which of them are reported, and how they look. Renderers are loaded by those who print."""

from __future__ import annotations

from .diagnostic import Applicability, Diagnostic, FileEdits, Fix, Offer, Related, dedupe_and_grade
from .notice import Kind, Notice

__all__ = ["Applicability", "Diagnostic", "FileEdits", "Fix", "Kind", "Notice", "Offer", "Related", "dedupe_and_grade"]
