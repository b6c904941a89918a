"""Where sounds come from: folders of this machine, and buckets of S3."""
