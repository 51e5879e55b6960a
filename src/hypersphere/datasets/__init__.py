"""Sources of images, their download and their prepared form on disk. All random choices are keyed."""
