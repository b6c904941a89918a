"""Sources of sounds: folders of this machine, and buckets of S3."""
