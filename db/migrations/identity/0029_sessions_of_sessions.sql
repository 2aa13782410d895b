-- compatible: a program that does not know origins begins sessions without one.
-- The session that one was begun from, by a handoff: whatever ends that one ends this one with it, in the same transaction.
alter table identity.sessions add column origin_session_id uuid references identity.sessions (id) on delete cascade;
create index sessions_by_origin on identity.sessions (origin_session_id) where origin_session_id is not null;
