-- compatible: programs of before end sessions without a trace of them.
-- What a person ended, for a day: whoever repeats it is answered the same.
create table identity.ended_sessions (
  id uuid primary key,
  user_id uuid not null references identity.users (id) on delete cascade,
  session jsonb not null,
  ended_at timestamptz(3) not null
);
create index ended_sessions_by_end on identity.ended_sessions (ended_at);
create index ended_sessions_of_user on identity.ended_sessions (user_id);
