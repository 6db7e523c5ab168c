"""The site of `docs/`: what is made of the code and of measured figures, and how it is built."""
