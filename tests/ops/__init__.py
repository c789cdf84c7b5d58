"""The conformance test of the table: every row against recorded numbers of torch."""
