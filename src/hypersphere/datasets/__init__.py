"""Sources of images, their download and their prepared form on disk. Nothing here is random but what is keyed."""
