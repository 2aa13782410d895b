-- compatible: programs of before make people and sessions of the first kind, and no codes.
-- A service account is a member without address or password, for whom keys act.
alter table identity.users
  alter column email drop not null,
  add column kind text not null default 'human' check (kind in ('human', 'service_account')),
  add column suspended_at timestamptz(3),
  add column last_signed_in_at timestamptz(3);

-- How a session began, and what an OAuth client may do with it.
alter table identity.sessions
  add column kind text not null default 'password' check (kind in ('password', 'handoff', 'oauth')),
  add column client_id text,
  add column scopes text[],
  -- A trusted client acts as the person, any other as an app.
  add column trusted boolean not null default false,
  add check ((kind = 'oauth') = (client_id is not null));

-- Codes that work once: what was sent by mail, or travels with a browser, is known here by its SHA-256 alone. One that was used is not here.
create table identity.codes (
  id uuid primary key,
  -- What it is good for: `reset-password`. No code is good for anything else.
  purpose text not null,
  -- Whom or what it is for.
  subject text not null,
  hash text not null unique,
  details jsonb not null default '{}',
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
create index codes_of_subject on identity.codes (subject, purpose);
create index codes_by_end on identity.codes (expires_at);
