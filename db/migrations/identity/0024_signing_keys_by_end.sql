-- compatible: an index alone.
create index signing_keys_by_end on identity.signing_keys (expires_at);
