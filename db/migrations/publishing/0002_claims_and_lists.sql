-- Who renews a connection's token says so in the row, instead of holding its lock while the network thinks.
alter table publishing.connections
  add column renewal_id uuid,
  add column renewal_until timestamptz(3),
  add constraint a_renewal_has_an_end check ((renewal_id is null) = (renewal_until is null));

-- A due post that waits for the earlier one of its thread: whoever publishes or deletes that one takes the mark away, so that
-- the sweep for lost wake-ups does not walk past all of them every time.
alter table publishing.posts add column held_back boolean not null default false;

-- Lists, newest first: what is not asked for is walked value by value, so two indexes serve every filter.
create index posts_by_kind on publishing.posts (brand_id, status, platform, created_at desc, id desc);
create index posts_by_author on publishing.posts (brand_id, author_id, status, platform, created_at desc, id desc) where author_id is not null;
create index posts_published on publishing.posts (brand_id, published_at) where status = 'PUBLISHED';
create index brands_oldest_first on publishing.brands (organization_id, created_at, id);
drop index if exists publishing.brands_by_organization;

-- Sweeps: each finds its rows without meeting others.
drop index if exists publishing.posts_due;
create index posts_due on publishing.posts (scheduled_at) where status = 'SCHEDULED' and not held_back and approval in ('NONE', 'APPROVED');
create index posts_being_sent on publishing.posts (claim_until) where delivery_phase = 'SENDING';
create index attempts_to_ask_about on publishing.attempts (reconcile_at) where reconcile_at is not null;
