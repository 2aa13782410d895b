-- compatible: programs of before sign with the last former secret alone.
-- Secrets of webhooks that were replaced more than once within a day: each signs until its own day is over.
create table publishing.webhook_former_secrets (
  id uuid primary key,
  brand_id uuid not null,
  endpoint_id uuid not null,
  -- Sealed.
  secret text not null,
  signs_until timestamptz(3) not null,
  constraint a_former_secret_is_of_an_endpoint foreign key (brand_id, endpoint_id) references publishing.webhook_endpoints (brand_id, id) on delete cascade
);
create index webhook_former_secrets_of_endpoint on publishing.webhook_former_secrets (brand_id, endpoint_id, signs_until);
create index webhook_former_secrets_by_end on publishing.webhook_former_secrets (signs_until);
create index webhook_former_secrets_by_key on publishing.webhook_former_secrets (split_part(secret, '.', 2));
