-- compatible: indexes alone.
-- Connections that end soon are found by when they do, and sealed tokens of places by their key.

create index connections_by_end on publishing.connections (reconnect_before) where active and reconnect_before is not null;
create index connections_by_token_end on publishing.connections (token_expires_at) where active and platform in ('INSTAGRAM', 'THREADS');
create index connections_by_place_key on publishing.connections (split_part(place_tokens, '.', 2)) where place_tokens is not null;
