-- compatible: an index alone.
-- A refresh token that outlived a renewal may be sealed with an older key than the access token beside it.
create index connections_by_refresh_key on publishing.connections (split_part(refresh_token, '.', 2)) where refresh_token is not null;
