"""What Trellis is measured against, a folder each: its pinned packages and the program to run."""
