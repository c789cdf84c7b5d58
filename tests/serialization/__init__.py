"""Tests of files: torch's own, hostile ones, and safetensors."""
