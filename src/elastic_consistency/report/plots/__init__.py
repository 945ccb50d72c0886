"""The plots of a report, one a file."""
