-- compatible: a program that does not know figures never asks for them; what it publishes is counted when somebody asks.
create table publishing.post_figures (
  brand_id uuid not null,
  post_id uuid not null,
  published_at timestamptz(3) not null,
  -- When it is counted next; null: not by itself.
  due_at timestamptz(3),
  asked_at timestamptz(3),
  at timestamptz(3),
  impressions integer check (impressions >= 0),
  likes integer check (likes >= 0),
  comments integer check (comments >= 0),
  shares integer check (shares >= 0),
  clicks integer check (clicks >= 0),
  video_views integer check (video_views >= 0),
  primary key (brand_id, post_id),
  constraint figures_are_of_a_post foreign key (brand_id, post_id) references publishing.posts (brand_id, id) on delete cascade
);
create index post_figures_due on publishing.post_figures (due_at) where due_at is not null;

create table publishing.figure_snapshots (
  brand_id uuid not null,
  post_id uuid not null,
  at timestamptz(3) not null,
  impressions integer,
  likes integer,
  comments integer,
  shares integer,
  clicks integer,
  video_views integer,
  primary key (post_id, at),
  constraint a_snapshot_is_of_a_post foreign key (brand_id, post_id) references publishing.posts (brand_id, id) on delete cascade
);
create index figure_snapshots_of_post on publishing.figure_snapshots (brand_id, post_id);

create table publishing.follower_counts (
  brand_id uuid not null,
  connection_id uuid not null,
  -- Of UTC, as 2027-03-01.
  day text not null,
  -- Null where the network did not tell.
  count integer,
  primary key (brand_id, connection_id, day),
  constraint followers_are_of_a_connection foreign key (brand_id, connection_id) references publishing.connections (brand_id, id) on delete cascade
);

-- What was published before: counted once, where its month is not over.
insert into publishing.post_figures (brand_id, post_id, published_at, due_at)
  select brand_id, id, published_at, published_at + interval '30 days' from publishing.posts
  where status = 'PUBLISHED' and published_at is not null and connection_id is not null and platform not in ('LINKEDIN', 'THREADS', 'TIKTOK');
