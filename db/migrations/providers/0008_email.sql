-- compatible: a program that does not know of mail never asks for it.
-- Domains that mails leave from, each with what proves that its owner wants that.
create table providers.sender_domains (
  id uuid primary key,
  level text not null check (level in ('ORGANIZATION', 'PLATFORM')),
  -- Whose it is; null for the platform's own, which everybody may send from.
  organization_id uuid,
  domain text not null check (domain = lower(domain) and length(domain) between 3 and 253),
  kind text not null check (kind in ('PLATFORM_EMAIL', 'CUSTOM')),
  status text not null default 'PENDING' check (status in ('PENDING', 'VERIFIED', 'FAILED', 'SUSPENDED')),
  -- What the record says that proves whose it is.
  token text not null,
  -- With what its mails are signed: the half that is published, and the other, sealed.
  selector text not null,
  public_key text not null,
  private_key text not null,
  -- What was last seen of each record, by its purpose.
  seen jsonb not null default '{}',
  last_checked_at timestamptz(3),
  next_check_at timestamptz(3) not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint the_platforms_domain_is_no_organizations check ((level = 'PLATFORM') = (organization_id is null))
);
create unique index a_domain_has_one_owner on providers.sender_domains (domain);
create index sender_domains_by_age on providers.sender_domains (organization_id, created_at, id);
create index sender_domains_by_turn on providers.sender_domains (next_check_at);
create index sender_domains_by_key on providers.sender_domains (split_part(private_key, '.', 2));

-- Addresses below them.
create table providers.sender_identities (
  id uuid primary key,
  level text not null check (level in ('ORGANIZATION', 'PLATFORM')),
  organization_id uuid,
  domain_id uuid not null references providers.sender_domains (id) on delete cascade,
  local_part text not null check (length(local_part) between 1 and 64),
  display_name text check (length(display_name) between 1 and 200),
  reply_to text check (length(reply_to) <= 254),
  is_default boolean not null default false,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint the_platforms_identity_is_no_organizations check ((level = 'PLATFORM') = (organization_id is null))
);
create unique index an_address_is_one_identity on providers.sender_identities (domain_id, local_part);
create unique index one_default_identity on providers.sender_identities (organization_id) nulls not distinct where is_default;
create index sender_identities_by_age on providers.sender_identities (organization_id, created_at, id);

-- Mails, each until some weeks after it was written.
create table providers.email_messages (
  organization_id uuid not null,
  id uuid not null,
  identity_id uuid not null,
  domain_id uuid not null,
  -- The app that asked for it, which is told what becomes of it.
  app_id text not null,
  from_name text,
  from_address text not null,
  -- [{ address, as, outcome, answer }]: to whom, and what became of it for each.
  recipients jsonb not null,
  subject text not null check (length(subject) between 1 and 1000),
  -- Sealed: its text and whatever else only the mail itself holds; null once nobody will send it.
  content text,
  status text not null default 'QUEUED'
    check (status in ('QUEUED', 'SENDING', 'SENT', 'DELIVERED', 'BOUNCED', 'COMPLAINED', 'SUPPRESSED', 'FAILED', 'UNKNOWN')),
  message_id text not null,
  attempts integer not null default 0,
  failure_code text,
  failure_message text check (length(failure_message) <= 500),
  -- When it is looked at: to be tried, or, while it is being sent, to be given up as unknown.
  due_at timestamptz(3),
  claim uuid,
  sent_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (organization_id, id),
  constraint what_is_looked_at_is_on_its_way check ((due_at is not null) = (status in ('QUEUED', 'SENDING')))
);
create unique index email_messages_by_id on providers.email_messages (id);
create unique index email_messages_by_message_id on providers.email_messages (message_id);
create index email_messages_by_age on providers.email_messages (organization_id, created_at, id);
create index email_messages_by_status on providers.email_messages (organization_id, status, created_at, id);
create index email_messages_due on providers.email_messages (due_at) where due_at is not null;
create index email_messages_old on providers.email_messages (created_at);

-- Addresses that get no more mail from an organization.
create table providers.email_suppressions (
  organization_id uuid not null,
  id uuid not null,
  address text not null check (length(address) <= 254),
  reason text not null check (length(reason) between 1 and 200),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (organization_id, id)
);
create unique index email_suppressions_by_id on providers.email_suppressions (id);
create unique index an_address_is_suppressed_once on providers.email_suppressions (organization_id, address);
create index email_suppressions_by_age on providers.email_suppressions (organization_id, created_at, id);

-- What mail servers have reported, by a digest of its id: each is heard once.
create table providers.email_events (
  key text primary key,
  at timestamptz(3) not null
);
create index email_events_by_age on providers.email_events (at);

-- The key of a mail is good for ever, the others are not: what is old is looked for among those.
create index idempotency_keys_that_age on providers.idempotency_keys (at) where what <> 'mail';
