-- compatible: a program that does not know webhooks never asks for them, and tells nobody.
create table publishing.webhook_endpoints (
  brand_id uuid not null references publishing.brands (id),
  id uuid not null,
  organization_id uuid not null,
  url text not null check (length(url) between 1 and 2000),
  events text[] not null check (cardinality(events) between 1 and 6),
  active boolean not null default true,
  description text check (length(description) between 1 and 2000),
  disabled_reason text,
  -- Sealed.
  secret text not null,
  previous_secret text,
  previous_until timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (brand_id, id),
  constraint a_former_secret_has_an_end check ((previous_secret is null) = (previous_until is null)),
  constraint what_is_told_was_not_given_up check (not active or disabled_reason is null)
);
create unique index webhook_endpoints_by_id on publishing.webhook_endpoints (id);
create index webhook_endpoints_by_key on publishing.webhook_endpoints (split_part(secret, '.', 2));
create index webhook_endpoints_by_previous_key on publishing.webhook_endpoints (split_part(previous_secret, '.', 2)) where previous_secret is not null;

create table publishing.webhook_deliveries (
  brand_id uuid not null,
  id uuid not null,
  endpoint_id uuid not null,
  event text not null,
  post_id uuid,
  connection_id uuid,
  body text not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'DELIVERED', 'FAILED')),
  attempts integer not null default 0 check (attempts >= 0),
  response_status integer,
  next_attempt_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (brand_id, id),
  constraint a_delivery_is_to_an_endpoint foreign key (brand_id, endpoint_id) references publishing.webhook_endpoints (brand_id, id) on delete cascade,
  constraint what_is_not_over_has_a_next_try check ((status = 'PENDING') = (next_attempt_at is not null))
);
create unique index webhook_deliveries_by_id on publishing.webhook_deliveries (id);
create index webhook_deliveries_of_endpoint on publishing.webhook_deliveries (endpoint_id, created_at desc, id desc);
create index webhook_deliveries_due on publishing.webhook_deliveries (next_attempt_at) where status = 'PENDING';
create index webhook_deliveries_by_age on publishing.webhook_deliveries (created_at) where status <> 'PENDING';
