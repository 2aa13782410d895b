-- compatible: a program that does not know reservations counts ended calls alone, as before.
-- Calls of models under way, of agents near their monthly limit. Unlogged: those of a database that crashed have ended.
create unlogged table agents.reserved_calls (
  id uuid primary key,
  agent_id uuid not null,
  micros bigint not null,
  -- When it counts no longer, although nobody said that it ended.
  expires_at timestamptz(3) not null
);
create index reserved_calls_of_agent on agents.reserved_calls (agent_id, expires_at);
create index reserved_calls_by_age on agents.reserved_calls (expires_at);
