-- compatible: a program that does not know them is sent none.
-- What networks have sent, signed, of accounts that took their permission back or want their data deleted: each acts once.
create table publishing.signed_requests (
  id uuid not null,
  platform text not null check (platform in ('FACEBOOK', 'INSTAGRAM', 'THREADS')),
  event text not null check (event in ('DEAUTHORIZE', 'DATA_DELETION')),
  -- SHA-256 of what was signed: the same request again, however its signature is written, is the same.
  digest text not null check (digest ~ '^[0-9a-f]{64}$'),
  -- The network's id of the account; null once nothing has to be found by it any more.
  account_id text,
  -- By which a person asks what became of a deletion.
  code text check (code ~ '^[0-9a-f]{32}$'),
  status text not null check (status in ('RECEIVED', 'IN_PROGRESS', 'COMPLETED')),
  received_at timestamptz(3) not null,
  completed_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (id),
  constraint a_request_acts_once unique (platform, event, digest),
  constraint a_deletion_has_a_code check ((event = 'DATA_DELETION') = (code is not null)),
  constraint what_is_completed_was_completed_then check ((status = 'COMPLETED') = (completed_at is not null)),
  constraint what_is_completed_names_nobody check ((status = 'COMPLETED') = (account_id is null))
);
create unique index signed_requests_by_code on publishing.signed_requests (code) where code is not null;
create index deletions_to_do on publishing.signed_requests (received_at) where status <> 'COMPLETED';
create index signed_requests_by_age on publishing.signed_requests (event, received_at);

-- Networks name an account by one id to whoever publishes with it, some by another one in what they send: that is in the metadata.
create index connections_of_an_account on publishing.connections (platform, external_account_id);
create index connections_of_a_scoped_account on publishing.connections (platform, (metadata ->> 'scopedId')) where metadata ? 'scopedId';
