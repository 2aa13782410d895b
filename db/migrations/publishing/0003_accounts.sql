-- What a network has is told apart by the account that it stands on, whichever brands publish there; and a post whose call was
-- surely not sent waits in the queue.

alter table publishing.attempts
  add column platform text,
  add column external_account_id text,
  -- The code with which the network refused the call, also when the outcome is in doubt for all that.
  add column refusal text,
  -- A text as networks compare it: without regard to case and white space.
  add column text_key text generated always as (md5(lower(btrim(regexp_replace(copy, '\s+', ' ', 'g'))))) stored,
  alter column post_id drop not null,
  alter column connection_id drop not null,
  drop constraint attempts_outcome_check,
  add constraint attempts_outcome_check check (outcome in ('DELIVERED', 'REFUSED', 'UNKNOWN', 'NOT_DELIVERED', 'NOT_SENT'));

update publishing.attempts a set platform = c.platform, external_account_id = c.external_account_id
  from publishing.connections c where c.brand_id = a.brand_id and c.id = a.connection_id;
-- Nobody knows any more which account an attempt without its connection was for: it stands for one of its own.
update publishing.attempts a set platform = coalesce((select p.platform from publishing.posts p where p.brand_id = a.brand_id and p.id = a.post_id), 'X'),
  external_account_id = 'unknown:' || a.id where a.external_account_id is null;

alter table publishing.attempts
  alter column platform set not null,
  alter column external_account_id set not null;
create index attempts_by_text on publishing.attempts (platform, external_account_id, text_key, started_at);

alter table publishing.posts
  -- The account of the last attempt, and of the network's id.
  add column external_account_id text,
  add column waits_until timestamptz(3),
  add column waiting_since timestamptz(3),
  add column waits integer not null default 0;

update publishing.posts p set external_account_id = c.external_account_id
  from publishing.connections c where c.brand_id = p.brand_id and c.id = p.connection_id;

-- Of several posts that carry one id of the network, one was received: the one that was published first keeps it.
with doubled as (
  update publishing.posts p set status = 'FAILED', platform_post_id = null, permalink = null, published_at = null, updated_at = p.published_at,
    failed_at = p.published_at, failure_code = 'DUPLICATE_CONTENT', version = p.version + 1,
    failure_message = 'The account has the text as another post, and this one was not published again: change the text, then reschedule the post.'
  from (
    select brand_id, id, row_number() over (partition by platform, external_account_id, platform_post_id order by published_at, id) as place
    from publishing.posts where platform_post_id is not null
  ) ranked
  where ranked.brand_id = p.brand_id and ranked.id = p.id and ranked.place > 1
  returning p.brand_id, p.id, p.failed_at
)
insert into publishing.audit_entries (brand_id, id, at, actor, action, subject_id, details)
  select brand_id, gen_random_uuid(), failed_at, 'delivery', 'post.failed', id, '{"code": "DUPLICATE_CONTENT", "reason": "another post carries the network''s id"}'
  from doubled;

drop index publishing.posts_by_network_id;
create unique index one_post_per_network_id on publishing.posts (platform, external_account_id, platform_post_id) nulls not distinct
  where platform_post_id is not null;
create index posts_of_account on publishing.posts (platform, external_account_id, published_at) where platform_post_id is not null;
