-- compatible: a program that does not know campaigns and calendars never asks for them, and puts no post into one.
create table publishing.campaigns (
  brand_id uuid not null references publishing.brands (id),
  id uuid not null,
  name text not null check (length(name) between 1 and 80),
  description text check (length(description) between 1 and 2000),
  color text check (color ~ '^#[0-9a-f]{6}$'),
  starts_on text check (starts_on ~ '^\d{4}-\d{2}-\d{2}$'),
  ends_on text check (ends_on ~ '^\d{4}-\d{2}-\d{2}$'),
  archived_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (brand_id, id),
  constraint a_campaign_ends_after_it_began check (ends_on is null or starts_on is not null and ends_on >= starts_on)
);
create unique index campaigns_by_id on publishing.campaigns (id);
create index campaigns_by_age on publishing.campaigns (brand_id, created_at desc, id desc);
create index campaigns_by_days on publishing.campaigns (brand_id, starts_on) where starts_on is not null;
create index posts_by_campaign on publishing.posts (campaign_id, created_at desc, id desc) where campaign_id is not null;
alter table publishing.posts
  add constraint a_campaign_is_the_brands foreign key (brand_id, campaign_id) references publishing.campaigns (brand_id, id);

-- One address for calendar programs a brand, known by the hash of its token.
create table publishing.calendar_feeds (
  brand_id uuid primary key references publishing.brands (id),
  id uuid not null,
  organization_id uuid not null,
  token_hash text not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create unique index calendar_feeds_by_id on publishing.calendar_feeds (id);
create unique index calendar_feeds_by_token on publishing.calendar_feeds (token_hash);
