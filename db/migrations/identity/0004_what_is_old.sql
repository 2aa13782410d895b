-- compatible: indexes alone.
-- What nobody needs any more is looked for by its age.
create index audit_entries_by_time on identity.audit_entries (at);
create index sessions_by_end on identity.sessions (expires_at);
create index verifications_by_end on identity.verifications (expires_at);
