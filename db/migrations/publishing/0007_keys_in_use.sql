-- compatible: an index alone.
-- With which encryption keys the tokens of connections were sealed: readiness asks for each whether it is configured.
create index connections_by_key on publishing.connections (split_part(access_token, '.', 2)) where access_token is not null;
