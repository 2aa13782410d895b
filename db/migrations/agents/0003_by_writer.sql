-- compatible: indexes alone.
-- What one person has added, taken, and has waiting is counted before there is more of it.
create index profile_sources_of_writer on agents.profile_sources (created_by, created_at);
create index profile_sources_waiting on agents.profile_sources (created_by) where fetch_at is not null;
create index style_snapshots_of_writer on agents.style_snapshots (created_by, created_at);
