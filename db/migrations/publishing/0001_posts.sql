-- Brands, posts, connections and the record of every delivery. Distribution key for scale-out: brand_id.

create table publishing.brands (
  id uuid primary key,
  organization_id text not null,
  name text not null check (length(name) between 1 and 200),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create index brands_by_organization on publishing.brands (organization_id, id);

create table publishing.connections (
  brand_id uuid not null,
  id uuid not null,
  platform text not null,
  author_id text not null,
  active boolean not null default true,
  external_account_id text not null,
  account_name text not null,
  scopes text[] not null default '{}',
  metadata jsonb not null default '{}',
  access_token text,
  refresh_token text,
  token_expires_at timestamptz(3),
  connected_at timestamptz(3) not null,
  deactivated_reason text,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (brand_id, id),
  constraint one_connection_per_account unique (brand_id, platform, external_account_id),
  constraint an_active_connection_has_a_token check (not active or access_token is not null)
);

create table publishing.posts (
  brand_id uuid not null,
  id uuid not null,
  thread_id uuid not null,
  position integer not null,
  platform text not null,
  copy text not null,
  target jsonb,
  status text not null check (status in ('DRAFT', 'SCHEDULED', 'PUBLISHED', 'FAILED')),
  approval text not null default 'NONE' check (approval in ('NONE', 'PENDING', 'APPROVED', 'CHANGES_REQUESTED', 'REJECTED')),
  scheduled_at timestamptz(3),
  published_at timestamptz(3),
  platform_post_id text,
  permalink text,
  failure_code text,
  failure_message text,
  failed_at timestamptz(3),
  attempts integer not null default 0,
  delivery_phase text not null default 'NONE' check (delivery_phase in ('NONE', 'CLAIMED', 'SENDING', 'UNKNOWN')),
  claim_id uuid,
  claim_until timestamptz(3),
  connection_id uuid,
  author_id text,
  idempotency_key text,
  idempotency_hash text,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (brand_id, id),
  constraint one_post_per_place unique (brand_id, thread_id, position),
  constraint a_scheduled_post_has_a_time check (status <> 'SCHEDULED' or scheduled_at is not null),
  constraint a_draft_has_no_time check (status <> 'DRAFT' or scheduled_at is null),
  constraint a_published_post_has_its_network_id check (status <> 'PUBLISHED' or (platform_post_id is not null and published_at is not null)),
  constraint a_failed_post_says_why check ((status = 'FAILED') = (failure_code is not null)),
  constraint an_unknown_outcome_is_a_failed_post check (delivery_phase <> 'UNKNOWN' or status = 'FAILED'),
  constraint a_claim_has_an_end check ((delivery_phase in ('CLAIMED', 'SENDING')) = (claim_until is not null))
);
create index posts_by_id on publishing.posts (id);
create index posts_newest_first on publishing.posts (brand_id, created_at desc, id desc);
create index posts_by_status on publishing.posts (brand_id, status, scheduled_at);
create index posts_due on publishing.posts (scheduled_at) where status = 'SCHEDULED';
create index posts_of_unknown_outcome on publishing.posts (failed_at) where delivery_phase = 'UNKNOWN';
create unique index posts_by_idempotency_key on publishing.posts (brand_id, created_by, idempotency_key) where idempotency_key is not null;
create unique index posts_by_network_id on publishing.posts (brand_id, platform, platform_post_id) where platform_post_id is not null;

-- Written before the one call that cannot be taken back; an attempt without an outcome is one that was interrupted.
create table publishing.attempts (
  brand_id uuid not null,
  id uuid not null,
  post_id uuid not null,
  number integer not null,
  connection_id uuid not null,
  copy text not null,
  in_reply_to text,
  started_at timestamptz(3) not null,
  finished_at timestamptz(3),
  outcome text check (outcome in ('DELIVERED', 'REFUSED', 'UNKNOWN', 'NOT_DELIVERED')),
  platform_post_id text,
  detail text,
  reconciled integer not null default 0,
  reconcile_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (brand_id, id),
  constraint one_row_per_attempt unique (brand_id, post_id, number)
);

-- An authorization that was begun at a network: the state is kept as its hash, and works once.
create table publishing.authorizations (
  brand_id uuid not null,
  state_hash text not null,
  platform text not null,
  user_id text not null,
  verifier text not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (brand_id, state_hash)
);
create index authorizations_by_state on publishing.authorizations (state_hash);
create index authorizations_by_expiry on publishing.authorizations (expires_at);

create table publishing.audit_entries (
  brand_id uuid not null,
  id uuid not null,
  at timestamptz(3) not null,
  actor text not null,
  action text not null,
  subject_id uuid not null,
  details jsonb not null default '{}',
  primary key (brand_id, id)
);
create index audit_entries_of_subject on publishing.audit_entries (brand_id, subject_id, at);
