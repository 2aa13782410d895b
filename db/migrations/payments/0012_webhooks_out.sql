-- compatible: a program that does not know webhooks sends none.
create table payments.webhook_endpoints (
  organization_id uuid not null,
  id uuid not null,
  url text not null check (length(url) between 1 and 2000),
  events text[] not null check (cardinality(events) between 1 and 8),
  active boolean not null default true,
  description text check (length(description) between 1 and 2000),
  disabled_reason text,
  -- How often its secret was replaced.
  rotations integer not null default 0,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (organization_id, id),
  constraint what_is_sent_to_was_not_given_up check (not active or disabled_reason is null)
);
create unique index webhook_endpoints_by_id on payments.webhook_endpoints (id);
create index webhook_endpoints_by_age on payments.webhook_endpoints (organization_id, created_at, id);

-- The secrets that sign for an endpoint: the present one without an end, and those that it replaced until theirs.
create table payments.webhook_secrets (
  id uuid primary key,
  endpoint_id uuid not null references payments.webhook_endpoints (id) on delete cascade,
  -- Sealed.
  secret text not null,
  signs_until timestamptz(3)
);
create unique index an_endpoint_has_one_present_secret on payments.webhook_secrets (endpoint_id) where signs_until is null;
create index webhook_secrets_of_endpoint on payments.webhook_secrets (endpoint_id, signs_until);
create index webhook_secrets_by_end on payments.webhook_secrets (signs_until);
create index webhook_secrets_by_key on payments.webhook_secrets (split_part(secret, '.', 2));

create table payments.webhook_deliveries (
  organization_id uuid not null,
  id uuid not null,
  endpoint_id uuid not null references payments.webhook_endpoints (id) on delete cascade,
  event text not null,
  entity_id uuid not null,
  body text not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'DELIVERED', 'FAILED')),
  attempts integer not null default 0 check (attempts >= 0),
  response_status integer,
  next_attempt_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (organization_id, id),
  constraint what_is_not_over_has_a_next_try check ((status = 'PENDING') = (next_attempt_at is not null))
);
create unique index webhook_deliveries_by_id on payments.webhook_deliveries (id);
create index webhook_deliveries_of_endpoint on payments.webhook_deliveries (endpoint_id, created_at desc, id desc);
create index webhook_deliveries_due on payments.webhook_deliveries (endpoint_id, next_attempt_at) where status = 'PENDING';
create index webhook_deliveries_by_turn on payments.webhook_deliveries (next_attempt_at) where status = 'PENDING';
create index webhook_deliveries_by_age on payments.webhook_deliveries (created_at) where status <> 'PENDING';
