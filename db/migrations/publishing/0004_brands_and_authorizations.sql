-- Brands that people make, change, archive and restore.
alter table publishing.brands
  add column description text,
  add column archived_at timestamptz(3),
  add column idempotency_key text,
  add column idempotency_hash text,
  drop constraint brands_name_check,
  add constraint a_brand_has_a_name check (length(name) between 1 and 80 and name = btrim(name)),
  add constraint a_description_says_something check (length(description) between 1 and 2000),
  add constraint a_brand_belongs_to_somebody check (organization_id <> ''),
  add constraint a_brand_counts_its_changes check (version >= 1),
  add constraint an_idempotency_key_has_its_hash check ((idempotency_key is null) = (idempotency_hash is null));
create unique index brands_by_idempotency_key on publishing.brands (organization_id, created_by, idempotency_key) where idempotency_key is not null;

-- How many posts a caller has written within a day.
create index posts_by_caller on publishing.posts (created_by, created_at);

alter table publishing.connections
  add constraint a_connection_belongs_to_a_brand foreign key (brand_id) references publishing.brands (id),
  add constraint a_connection_is_of_a_network
    check (platform in ('X', 'LINKEDIN', 'LINKEDIN_PAGE', 'FACEBOOK', 'INSTAGRAM', 'THREADS', 'YOUTUBE', 'TIKTOK')),
  add constraint a_connection_names_its_account check (external_account_id <> '' and account_name <> '' and author_id <> ''),
  add constraint an_inactive_connection_says_why check (active = (deactivated_reason is null)),
  add constraint an_inactive_connection_has_no_token
    check (active or (access_token is null and refresh_token is null and token_expires_at is null and renewal_id is null)),
  add constraint a_connection_counts_its_changes check (version >= 1);

-- An authorization belongs to the browser that began it, or to the one that confirmed it; what it has connected is remembered,
-- so that a page that is loaded again can say so.
alter table publishing.authorizations
  add column browser_hash text,
  add column confirm_hash text,
  add column claim_until timestamptz(3),
  add column connection_id uuid,
  add constraint an_authorization_belongs_to_a_brand foreign key (brand_id) references publishing.brands (id),
  add constraint an_authorization_is_of_a_network
    check (platform in ('X', 'LINKEDIN', 'LINKEDIN_PAGE', 'FACEBOOK', 'INSTAGRAM', 'THREADS', 'YOUTUBE', 'TIKTOK')),
  add constraint an_authorization_keeps_hashes
    check (state_hash ~ '^[0-9a-f]{64}$' and browser_hash ~ '^[0-9a-f]{64}$' and confirm_hash ~ '^[0-9a-f]{64}$'),
  add constraint an_authorization_ends check (expires_at > created_at),
  add constraint only_a_used_authorization_has_connected check (connection_id is null or used_at is not null);
drop index publishing.authorizations_by_state;
create unique index one_authorization_per_state on publishing.authorizations (state_hash);

-- What is old is found without walking past what is young.
create index audit_entries_by_time on publishing.audit_entries (at);
create index attempts_by_time on publishing.attempts (started_at);
