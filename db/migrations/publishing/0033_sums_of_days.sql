-- compatible: programs of before sum posts themselves, and triggers note for them what they change.
-- What networks count of a brand's posts, summed by the day on which they were published.

-- The posts of a network that were published on a day of the brand's zone; a day without posts has no row.
create table publishing.day_sums (
  brand_id uuid not null references publishing.brands (id) on delete cascade,
  -- The first moment of the day.
  starts_at timestamptz(3) not null,
  platform text not null,
  posts integer not null check (posts > 0),
  -- Null where the network tells of none of them.
  impressions bigint,
  likes bigint,
  comments bigint,
  shares bigint,
  clicks bigint,
  video_views bigint,
  -- The ten that people did most with, the first one first; and of that one what was done, and how often it was seen.
  top uuid[] not null,
  top_score bigint,
  top_seen integer,
  primary key (brand_id, starts_at, platform),
  constraint the_first_one_has_figures check ((top = '{}') = (top_score is null) and (top = '{}') = (top_seen is null))
);

-- Brands whose days are summed, and by which clocks: of another zone, or by other rules of zones, none of their sums count.
create table publishing.summed_brands (
  brand_id uuid primary key references publishing.brands (id) on delete cascade,
  time_zone text not null,
  -- The version of the rules of zones.
  zones text not null,
  checked_at timestamptz(3) not null
);
create index summed_brands_by_zones on publishing.summed_brands (zones);
create index summed_brands_by_check on publishing.summed_brands (checked_at);

-- Moments of publication of which something changed since their day was summed: until it is again, that day is summed from its posts.
create table publishing.days_to_sum (
  id bigint generated always as identity primary key,
  brand_id uuid not null references publishing.brands (id) on delete cascade,
  published_at timestamptz(3) not null
);
create index days_to_sum_by_moment on publishing.days_to_sum (brand_id, published_at);

-- They are noted within the transaction that changes them, whichever program that is.
create function publishing.note_published() returns trigger language plpgsql as $$
begin
  if tg_op in ('UPDATE', 'DELETE') and old.status = 'PUBLISHED' then
    insert into publishing.days_to_sum (brand_id, published_at) values (old.brand_id, old.published_at);
  end if;
  if tg_op in ('UPDATE', 'INSERT') and new.status = 'PUBLISHED' then
    insert into publishing.days_to_sum (brand_id, published_at) values (new.brand_id, new.published_at);
  end if;
  return null;
end $$;
create trigger published_posts_are_noted after insert on publishing.posts for each row
  when (new.status = 'PUBLISHED') execute function publishing.note_published();
create trigger publications_are_noted after update of brand_id, id, platform, status, published_at on publishing.posts for each row
  when ((old.status = 'PUBLISHED' or new.status = 'PUBLISHED')
    and (old.brand_id, old.id, old.platform, old.status, old.published_at) is distinct from (new.brand_id, new.id, new.platform, new.status, new.published_at))
  execute function publishing.note_published();
create trigger deleted_posts_are_noted after delete on publishing.posts for each row
  when (old.status = 'PUBLISHED') execute function publishing.note_published();

create function publishing.note_figures() returns trigger language plpgsql as $$
begin
  insert into publishing.days_to_sum (brand_id, published_at)
    select p.brand_id, p.published_at from publishing.posts p
    where p.status = 'PUBLISHED' and ((tg_op <> 'INSERT' and p.brand_id = old.brand_id and p.id = old.post_id)
      or (tg_op <> 'DELETE' and p.brand_id = new.brand_id and p.id = new.post_id));
  return null;
end $$;
create trigger new_figures_are_noted after insert on publishing.post_figures for each row
  when (num_nonnulls(new.at, new.impressions, new.likes, new.comments, new.shares, new.clicks, new.video_views) > 0)
  execute function publishing.note_figures();
-- When it was counted changes nothing, but for the first time: then it is one that was.
create trigger changed_figures_are_noted after update on publishing.post_figures for each row
  when ((old.brand_id, old.post_id, old.at is null, old.impressions, old.likes, old.comments, old.shares, old.clicks, old.video_views) is distinct from
    (new.brand_id, new.post_id, new.at is null, new.impressions, new.likes, new.comments, new.shares, new.clicks, new.video_views))
  execute function publishing.note_figures();
create trigger deleted_figures_are_noted after delete on publishing.post_figures for each row execute function publishing.note_figures();

-- In another zone all days are others.
create function publishing.note_zone() returns trigger language plpgsql as $$
begin
  insert into publishing.days_to_sum (brand_id, published_at) values (new.id, new.updated_at);
  return null;
end $$;
create trigger other_zones_are_noted after update of time_zone on publishing.brands for each row
  when (old.time_zone is distinct from new.time_zone) execute function publishing.note_zone();

-- What was published before is summed from here: a brand that is noted and not summed yet is summed whole.
insert into publishing.days_to_sum (brand_id, published_at)
  select brand_id, max(published_at) from publishing.posts where status = 'PUBLISHED' group by brand_id;
