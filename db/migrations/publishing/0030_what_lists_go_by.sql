-- compatible: programs of before ask by what they know, and a trigger keeps for them what posts are found by.
-- Lists and sweeps that would walk past what they do not show.

-- What posts are found by, beside them: a post changes several times while it is sent, and its words and tags do not.
create table publishing.post_search (
  brand_id uuid not null,
  post_id uuid not null,
  -- That of the post.
  created_at timestamptz(3) not null,
  -- Text and title, in lower case.
  words text not null,
  tags text[] not null,
  primary key (brand_id, post_id),
  constraint what_is_found_is_a_post foreign key (brand_id, post_id) references publishing.posts (brand_id, id) on delete cascade
);
create function publishing.keep_post_search() returns trigger language plpgsql as $$
begin
  insert into publishing.post_search (brand_id, post_id, created_at, words, tags)
    values (new.brand_id, new.id, new.created_at, lower(new.copy || ' ' || coalesce(new.title, '')), new.tags)
    on conflict (brand_id, post_id) do update set words = excluded.words, tags = excluded.tags;
  return null;
end $$;
create trigger posts_are_found after insert on publishing.posts for each row execute function publishing.keep_post_search();
create trigger changed_posts_are_found after update of copy, title, tags on publishing.posts for each row
  when (old.copy is distinct from new.copy or old.title is distinct from new.title or old.tags is distinct from new.tags)
  execute function publishing.keep_post_search();
insert into publishing.post_search (brand_id, post_id, created_at, words, tags)
  select brand_id, id, created_at, lower(copy || ' ' || coalesce(title, '')), tags from publishing.posts;
create index post_search_by_age on publishing.post_search (brand_id, created_at desc, post_id desc);
drop index publishing.posts_by_tag;

-- Parts of words and tags within one brand: both extensions come with PostgreSQL. Where they may not be made, lists are right and slow.
do $$
declare
  trigrams text;
  keys text;
begin
  create extension if not exists pg_trgm with schema publishing;
  create extension if not exists btree_gin with schema publishing;
  select quote_ident(n.nspname) into trigrams from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm';
  select quote_ident(n.nspname) into keys from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'btree_gin';
  execute format('create index post_search_by_words on publishing.post_search using gin (brand_id %s.uuid_ops, words %s.gin_trgm_ops)', keys, trigrams);
  execute format('create index post_search_by_tags on publishing.post_search using gin (brand_id %s.uuid_ops, tags) where tags <> ''{}''', keys);
  execute format('create index media_assets_by_tags on publishing.media_assets using gin (brand_id %s.uuid_ops, tags) where tags <> ''{}''', keys);
  execute format('create index media_assets_by_words on publishing.media_assets using gin (brand_id %s.uuid_ops,
    lower(filename || '' '' || coalesce(title, '''') || '' '' || coalesce(alt_text, '''')) %s.gin_trgm_ops)', keys, trigrams);
  drop index publishing.media_assets_by_tag;
exception when insufficient_privilege or undefined_file or feature_not_supported then
  raise warning 'pg_trgm or btree_gin cannot be installed: lists by words and tags read all of a brand';
end $$;

-- Of a brand that approves, few posts have no approval.
drop index publishing.posts_by_approval;
create index posts_by_approval on publishing.posts (brand_id, approval, created_at desc, id desc);

-- How many posts of each status a campaign has is counted in the index.
drop index publishing.posts_by_campaign;
create index posts_by_campaign on publishing.posts (campaign_id, created_at desc, id desc) include (status) where campaign_id is not null;

-- The sweep of due posts meets none that is held, and knows brands that send nothing before it looks at their posts.
drop index publishing.posts_due;
create index posts_due on publishing.posts (scheduled_at) where status = 'SCHEDULED' and not held_back and not held and approval in ('NONE', 'APPROVED');
create index brands_that_send_nothing on publishing.brands (id) where archived_at is not null or paused_at is not null;

-- Whose followers were counted on a day.
create index follower_counts_of_a_day on publishing.follower_counts (day, brand_id, connection_id);
