-- compatible: a program that does not know conversations never asks for them.
create table agents.conversations (
  id uuid primary key,
  organization_id uuid not null,
  agent_id uuid not null,
  title text not null check (length(title) between 1 and 200),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create index conversations_by_age on agents.conversations (organization_id, created_at, id);
create index conversations_of_writer on agents.conversations (created_by, created_at);

create table agents.conversation_messages (
  conversation_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  role text not null check (role in ('USER', 'AGENT')),
  text text not null,
  mode text check (mode in ('MODEL', 'EXTRACTIVE')),
  notice text,
  status text not null check (status in ('STREAMING', 'COMPLETE', 'FAILED')),
  failure_code text,
  failure_message text,
  -- The passages that it rests on, with their places in documents.
  hits jsonb not null default '[]',
  -- The person for whom a reply is written; null for a key.
  user_id uuid,
  -- When a reply is begun, or taken over from a process that does not write it any more; null once it has ended.
  wake_at timestamptz(3),
  claim_id uuid,
  attempts integer not null default 0,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (conversation_id, id)
);
create index conversation_messages_by_id on agents.conversation_messages (id);
create index conversation_messages_by_age on agents.conversation_messages (conversation_id, created_at, id);
create index conversation_messages_by_turn on agents.conversation_messages (wake_at) where wake_at is not null;
create index conversation_messages_by_change on agents.conversation_messages (organization_id, updated_at);
create index conversation_messages_of_writer on agents.conversation_messages (created_by, created_at);
