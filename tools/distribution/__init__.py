"""What is published: wheels, the image, and what is checked before a release."""
